"""How a command ends: each refusal with its code, and nothing private in what is said."""

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

from graphveil.cli.hints import HINTS
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
from graphveil.hints import in_words

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
            stop = _interruption_behind(leaving)
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


def _interruption_behind(leaving: BaseException) -> KeyboardInterrupt | None:
    """The interruption because of which the option parser leaves, if that is why."""
    return _first_behind(leaving, KeyboardInterrupt)


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
