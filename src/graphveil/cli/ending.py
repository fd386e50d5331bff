"""How a command ends: each refusal with its code and what helps, and nothing private in it."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TypeVar

from graphveil.errors import (
    DEBUG,
    BoundError,
    BudgetError,
    CountOverflowError,
    EngineError,
    GraphveilError,
    InputError,
    IntegrityError,
    Interruption,
    MissingPlugInError,
    ParameterError,
    StorageError,
    StudyError,
    UnconfirmedError,
    unexpected,
)
from graphveil.hints import IN_A_TERMINAL, in_words

DECLINED = 1  # the option parser's own, where a question is answered with no, or not at all
EXIT_CODES: dict[type[GraphveilError], int] = {
    UnconfirmedError: DECLINED,
    ParameterError: 2,
    InputError: 3,
    BoundError: 4,
    CountOverflowError: 5,
    MissingPlugInError: 13,
    StudyError: 7,  # 6 is a violation that an audit found
    BudgetError: 8,
    IntegrityError: 9,
    StorageError: 10,
    EngineError: 12,  # 11 is something unfinished that `verify` found
}
UNFINISHED = 11
INTERNAL_ERROR = 70
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
_STANDS = (
    "interrupted. What was committed stands, and nothing is half done: run the command again to "
    "go on. `graphveil status` shows where a study is."
)


# What a reader of a published study can do without (`requirements/reader.txt`).
_LIBRARIES = frozenset(("filelock", "numba", "opendp", "polars", "scipy", "sqlalchemy"))
_LONG_WORD = re.compile(r"\S{300,}")  # longer than paths are
Kind = TypeVar("Kind", bound=BaseException)


class Terminated(KeyboardInterrupt):
    """The system asks this process to end; it ends as if somebody had pressed Ctrl-C."""


@contextmanager
def endings() -> Iterator[None]:
    """Turn whatever stops a command into one plain message and its exit code."""
    with _termination_as_interruption():
        try:
            yield
        except SystemExit as leaving:
            stop = _first_behind(leaving, KeyboardInterrupt)
            if stop is None:
                raise
            _end(stop)
        except (Exception, KeyboardInterrupt) as error:
            _end(error)
        except BaseException as error:
            if not _is_panic(error):
                raise
            _end(error)


def _is_panic(error: BaseException) -> bool:
    """Whether compiled code gave up: such an error is no Exception, and has no class to import."""
    return type(error).__module__ == "pyo3_runtime"


def _end(error: BaseException) -> None:
    """Say why, and leave."""
    code, message = _code(error), _LONG_WORD.sub(_cut, _message(error))
    print("graphveil: " + message.replace("\n", "\n  "), file=sys.stderr)
    if code == INTERNAL_ERROR and os.environ.get(DEBUG):
        traceback.print_exception(error)
    sys.exit(code)


def _cut(word: re.Match[str]) -> str:
    """What a file calls something may be as long as the file; a message is read by somebody."""
    return f"{word[0][:60]} … {word[0][-20:]}"


def _code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return TERMINATED if _first_behind(error, Terminated) else INTERRUPTED
    if isinstance(error, OSError):
        return EXIT_CODES[StorageError]
    if _missing_library(error):
        return EXIT_CODES[MissingPlugInError]
    kinds = (code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
    return next(kinds, INTERNAL_ERROR)


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        stopped = _first_behind(error, Interruption)
        return in_words(stopped.text, HINTS) if stopped else _STANDS
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}."
    if missing := _missing_library(error):
        return (
            f"this command needs {missing}, which is not installed here. What is published can be "
            "read and verified without it; for the rest: python -m pip install graphveil"
        )
    if not isinstance(error, GraphveilError):
        return unexpected(error)
    said = error.worded(HINTS)
    if isinstance(error, ParameterError):  # which has the name that Python has for it
        return said.replace(error.parameter, error.parameter.replace("_", "-"), 1)
    return said


def _missing_library(error: BaseException) -> str:
    """The library of ours that is not installed, if that is why; else nothing."""
    missing = isinstance(error, ModuleNotFoundError) and error.name
    name = missing.partition(".")[0] if missing else ""
    return name if name in _LIBRARIES else ""


def _first_behind(error: BaseException, kind: type[Kind]) -> Kind | None:
    """The first error of a kind in a chain of errors."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, kind):
        seen = seen.__cause__ or seen.__context__
    return seen


@contextmanager
def _termination_as_interruption() -> Iterator[None]:
    """A process that is asked to end leaves as cleanly as one that is interrupted."""

    def stop(_: int, __: FrameType | None) -> None:
        raise Terminated

    before = None
    with suppress(ValueError):  # in a thread, signals are somebody else's matter
        before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


HINTS = IN_A_TERMINAL | {
    "publish-first": "Run `graphveil publish STUDY` first, then add these files; or let them count "
    "in that step: `graphveil add STUDY --abandon`.",
    "add-again": "Add these files again, or give them up: `graphveil add STUDY --abandon`.",
    "add-again-with": "Add these files again, alone or together with the new ones, or give them "
    "up: `graphveil add STUDY --abandon`.",
    "all-listed": "Add a table node,time beside it (its header alone if all are known). If "
    "HIV-TRACE lists everybody, say --all-listed.",
    "change-reading": "Leave it out, or say --change-reading if it changes from now on.",
    "columns": "Check its spelling; `graphveil formats FILE` shows the columns of a file.",
    "confirm": "To add the rest all the same: --yes.",
    "create": "Create one with `graphveil new {folder}`.",
    "day-or-month": "Say it once for all: --day-first (7/8/2021 is 7 August) or --month-first.",
    "delta": "Give --delta.",
    "early": "Wait, or seal it now with --early.",
    "encoding": "Name its encoding, such as --encoding windows-1252, or save it as UTF-8 text.",
    "excel-dates": "If Excel counts the days so, say --excel-dates.",
    "expected": "Give --expected SERIES=N for each.",
    "formats": "All formats: `graphveil formats`.",
    "guess-links": "Columns: {columns}. If these are people, say --id '{id}' --time '{time}'; if "
    "links, --source '{source}' --target '{target}'.",
    "guess-people": "Columns: {columns}. If these are people, say --id '{id}' --time '{time}'.",
    "ignore-after-end": "To leave such records out, use --ignore-after-end.",
    "infector": "If so, say --source '{source}'; if not, say --id '{id}'.",
    "limit": "Split it, or raise the limit: --limit.",
    "limit-memory": "Split the files, or raise the limit, --limit; memory may be eight times that.",
    "limit-sheet": "Remove what stands far from the table, save its sheet as CSV, or raise "
    "--limit.",
    "map-labels": "--dry-run shows them. Below [groups.{group}] of the study file, say what "
    'they mean: same = {{"N" = "North"}}.',
    "name-columns": "Name the columns: --id of people, --source and --target of links.",
    "name-distance": "Name it: --distance.",
    "name-ends": "Say --source '{source}' --target '{target}'.",
    "name-ends-or-id": "Say --source '{source}' --target '{target}', or --id '{id}'.",
    "name-id": "Say --id '{id}'.",
    "name-group": "Name it: --group {group}=COLUMN; or {group}=none if there are no labels.",
    "name-time": "Name it: --time.",
    "not-strict": "Without --strict the other records are added.",
    "other-distance": "Give the threshold for these distances, or name another column: --distance.",
    "other-encoding": "Name its encoding (--encoding), or save the file as UTF-8 text.",
    "other-order": "Correct it, or say --day-first or --month-first if all dates are in the other "
    "order.",
    "public-folder": "Give the public folder of a study, or make one with `graphveil new`.",
    "public-part": "Name the folder above it. By itself, `releases` and `verify` read it.",
    "publish-again": "`graphveil publish {folder}` first brings the public part up to date, then "
    "the same command goes on.",
    "report": "`graphveil report` writes it again.",
    "room": "Count with --engine spark, which needs no more memory than it is given, or on a "
    "larger machine.",
    "table-file": "Use --csv or --json.",
    "through": "Use --through LABEL.",
    "through-step": "Steps are sealed one after the other; to seal all up to {step}, use --through "
    "{step}.",
    "too-noisy": "What helps: a larger --epsilon, longer steps, fewer series; --hubs with a "
    "smaller --bound, too, which leaves links out. To have it all the same: --yes.",
    "undated": "--undated drop leaves out such people.",
    "undo-change": "Undo the change; for a new series use `graphveil series`, for another promise "
    "open a new study.",
    "unsaid-distance": "Say up to which it is: --max-distance 0.015 is usual for HIV (TN93), 12 "
    "for "
    "SNPs of tuberculosis. If every row is a link: --distance none.",
    "usual-distance": "--max-distance 0.015 is usual for HIV (TN93), 12 for SNPs of tuberculosis.",
    "verify": "Run `graphveil verify`, and restore the newest backup of the private folder.",
    "which-distance": "Say it with --distance, or --distance none if every row is a link.",
    "which-person": "Say which column names a person, by --id: {columns}.",
    "withdraw": "If records are wrong, correct them (see `graphveil add --withdraw`); else open a "
    "new study with a larger bound, chosen without the data.",
}
