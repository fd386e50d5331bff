"""Everything that graphveil refuses, as one small tree.

::

    GraphveilError
    ├── InputError            records that cannot be accepted; says where and how to fix it
    │   ├── RecordError       records that break a rule; the others could be taken without them
    │   └── PastStepError     records for a step that is already closed
    ├── ParameterError        an argument outside its allowed range
    ├── BoundError            a sequence that breaks its promised degree bound (private!)
    ├── CountOverflowError    an exact count beyond 64 bits
    ├── EngineError           an engine that cannot do what was asked, or whose cluster failed
    ├── UnconfirmedError      records that somebody has to look at before they go in (private!)
    ├── StudyError            a study that cannot do what was asked in its present state
    │   ├── NewerFormatError  something that a newer version stored; says which to install
    │   └── MissingPlugInError  something that another package defines, which is not installed
    ├── BudgetError           a series that would overspend its study's budget
    ├── IntegrityError        a ledger, checksum or artefact that differs from what was committed
    └── StorageError          a disk or database that cannot be written or read

No message carries a node id, a degree or a true count: rows and columns point at the
offending record, and only the person who holds the file can follow them. Nor does it carry a
password: whatever was given, the one in an address is masked.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.hints import Hint, in_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_PASSWORD = re.compile(r"(\w:/{1,2}[^\s/:@]*:)[^\n]*@|(\bpassword=)[^&#\s'\"]*", re.IGNORECASE)


def without_password(text: str) -> str:
    """A text in which the passwords of addresses are masked, as in postgresql://ann:***@host."""
    return _PASSWORD.sub(lambda found: f"{found[1]}***@" if found[1] else f"{found[2]}***", text)


def installing(extra: str) -> str:
    """The one command that installs an extra into the Python that runs."""
    python = shlex.quote(sys.executable or "python")
    return f"{python} -m pip install 'graphveil[{extra}]'"


class GraphveilError(Exception):
    """Base of every error that graphveil raises on purpose; shows no password of an address.

    Attributes:
        problem: what went wrong.
        hint: what helps; a `Hint` has words for each face, and `str(error)` those of Python.
    """

    def __init__(self, problem: str = "", *, hint: str = "") -> None:
        self.problem = problem if isinstance(problem, Hint) else without_password(problem)
        self.hint = hint
        super().__init__(without_password(self.text))

    @property
    def text(self) -> Hint:
        """The whole message; its hints can be put into the words of a face."""
        return Hint.joined(self.problem, self.hint)

    def worded(self, words: Mapping[str, str]) -> str:
        """The whole message, with all hints in the words of a face."""
        return without_password(in_words(self.text, words))


@dataclass(frozen=True)
class Place:
    """Where in the user's input something was found."""

    source: str
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        parts = [self.source]
        if self.row is not None:
            parts.append(f"row {self.row}")
        if self.column is not None:
            parts.append(f"column '{self.column}'")
        return ", ".join(parts)


class InputError(GraphveilError):
    """Records that cannot be accepted: what is wrong, where, and how to fix it."""

    def __init__(self, what: str, *, place: Place | None = None, hint: str = "") -> None:
        self.what = what
        self.place = place
        where = f"{place}: " if place is not None else ""
        super().__init__(f"{where}{what}.", hint=hint)


class RecordError(InputError):
    """Records that break a rule, all of them: the message names one, `rows` has every one.

    Whoever leaves these rows out can take the others; `graphveil.graph.intake.appending` does.
    """

    def __init__(
        self,
        what: str,
        *,
        place: Place,
        hint: str,
        rule: str,
        kind: str,
        rows: NDArray[np.int64],
    ) -> None:
        super().__init__(what, place=place, hint=hint)
        self.rule = rule  # what is wrong with all of them, without a word of one row
        self.kind = kind  # "nodes" or "edges"
        self.rows = rows  # counted from 0, ascending

    def advising(self, more: str) -> RecordError:
        """The same, with one more way out."""
        return RecordError(
            self.what,
            place=self.place or Place(""),
            hint=Hint.joined(self.hint, more),
            rule=self.rule,
            kind=self.kind,
            rows=self.rows,
        )


class PastStepError(InputError):
    """Records that belong to a step which is already closed."""


class ParameterError(GraphveilError):
    """An argument outside its allowed range; names the argument and the range."""

    def __init__(self, parameter: str, problem: str, *, hint: str = "") -> None:
        self.parameter = parameter
        super().__init__(f"{parameter}: {problem}.", hint=hint)
        self._parts = parameter, problem, hint

    def __reduce__(self) -> tuple[object, ...]:
        """Made again from its parts where another process has raised it."""
        return _parameter_error, self._parts


def _parameter_error(parameter: str, problem: str, hint: str) -> ParameterError:
    return ParameterError(parameter, problem, hint=hint)


def nearest_name(name: str, known: Iterable[str], besides: str = "") -> str:
    """What to offer for a name that is not known: the nearest one, or all there are.

    Args:
        name: what was asked for.
        known: every name there is.
        besides: what else would do, named after them.
    """
    from difflib import get_close_matches

    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(names)}{besides}."


class BoundError(GraphveilError):
    """A sequence that breaks its promised degree bound.

    That this happened is itself a fact about the data: the error is for the operator
    alone and must not be published.
    """


class CountOverflowError(GraphveilError):
    """An exact count that does not fit into 64 bits; nothing was rounded or wrapped."""


class EngineError(GraphveilError):
    """An engine that cannot do what was asked, or whose cluster failed; nothing was changed."""


class UnconfirmedError(GraphveilError):
    """Records of which so much would be set aside that somebody has to look first.

    Nothing was changed. That it happened depends on the data: the error is for the operator alone.
    """

    def __init__(self, what: str, rule: str = "", *, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.rule = rule  # which most of these records break


class StudyError(GraphveilError):
    """A study that cannot do what was asked in its present state; nothing was changed."""


class NewerFormatError(StudyError):
    """Something that a newer version stored, which this one does not read; nothing was changed."""


class MissingPlugInError(StudyError):
    """Something that another package defines, and that package is not installed here."""

    def __init__(self, kind: str, name: str) -> None:
        distribution = name.rpartition(".")[0]
        super().__init__(
            f"the {kind} '{name}' is defined by the package {distribution}, which is not installed "
            f"here, or has none of that name. Install it: python -m pip install {distribution}"
        )
        self.kind = kind
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        """Made again from its parts where another process has raised it."""
        return MissingPlugInError, (self.kind, self.name)


NEWEST = "the newest graphveil"  # where nothing says which version can read something


def require_known_format(what: str, found: object, known: int, writer: str = NEWEST) -> None:
    """Refuse what is of a later format than this version reads.

    Args:
        what: what has the format.
        found: its format; whatever is no number is left to whoever reads the rest.
        known: the last format that this version reads.
        writer: the version that reads it.
    """
    if isinstance(found, int) and found > known:
        raise NewerFormatError(
            f"{what} has format {found}, but this graphveil reads formats up to {known}. "
            f"Install {writer}."
        )


class BudgetError(GraphveilError):
    """A series that would overspend its study's budget; says what is left."""


class IntegrityError(GraphveilError):
    """A ledger, a checksum or an artefact that differs from what was committed."""


class StorageError(GraphveilError):
    """A disk or database that cannot be written or read; what was committed is safe."""


class Interruption(KeyboardInterrupt):
    """Somebody has stopped the work; says what stands, and how to go on."""

    def __init__(self, text: str) -> None:
        self.text = text  # a hint in it can be put into the words of a face
        super().__init__(str(text))


DEBUG = "GRAPHVEIL_DEBUG"


def unexpected(error: BaseException) -> str:
    """What is safe to say of an error that nobody foresaw: its text may hold ids and counts."""
    import traceback
    from pathlib import Path

    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}, line {where.lineno}"
    return (
        f"internal error ({type(error).__name__} in {place}). What was committed is safe. Please "
        f"report it; {DEBUG}=1 shows the traceback, which may hold private values: look through "
        "it before you share it."
    )
