"""Backends: where the records of a study lie and counting runs, each found by its name.

A backend is a matter of the machine: nothing published or stored says which one it was, every
backend reads what any other has written in the private folder, and all give the same integers. The
local one has the graph in memory; that of a cluster leaves it with the workers. A package of
somebody else's offers one by an entry point in the group `graphveil.backends`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from graphveil.backends import Engine
from graphveil.errors import ParameterError, nearest_name
from graphveil.graph.intake.rules import RecordRules, Undated

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from graphveil.graph.promises import Bound
    from graphveil.records import ReadFiles, ReadingOptions
    from graphveil.series.counting import SeriesCounts, SeriesTerms
    from graphveil.study.folder import Folder
    from graphveil.study.ledger import Ledger
    from graphveil.study.promise import Promise
    from graphveil.study.records.findings import Findings

GROUP = "graphveil.backends"
_OURS = {  # nobody's may stand in for one of them
    "local": "graphveil.study.records.local:LocalBackend",
    "spark": "graphveil.backends.spark.backend:SparkBackend",
}


class Backend(Engine, Protocol):
    """Where the records of a study lie while a command works with them, and are counted."""

    @classmethod
    def require_possible(
        cls, promise: Promise, format_name: str | None, options: ReadingOptions
    ) -> None:
        """Refuse records that it does not take in, before it starts."""

    @classmethod
    def opened(
        cls, master: str | None, settings: Mapping[str, str]
    ) -> AbstractContextManager[Backend]:
        """The backend while a command runs.

        Args:
            master: where it is; None is this machine.
            settings: its own.
        """

    def read(
        self,
        files: Sequence[str | Path],
        format_name: str | None,
        options: ReadingOptions,
        by_format: Mapping[str, ReadingOptions],
    ) -> ReadFiles:
        """The records in some files, in the form that `candidate` takes; see `read_records`."""

    def candidate(self, stored: Stored, given: Any, options: AddOptions) -> ValidatedBatch:
        """Check new records against everything that is sealed or waiting; changes nothing."""

    def keeps_promise(self, stored: Stored) -> bool:
        """Whether nobody in the sealed graph has more links than promised."""

    def grown(self, stored: Stored, through: int) -> ExtendedGraph:
        """The sealed graph with the records that arrive up to the step `through`."""

    def recounted(self, stored: Stored, series: Collection[SeriesTerms]) -> Recounted:
        """Count everything that was sealed, from its segments."""


def names() -> list[str]:
    """The backends that there are: ours, and those of other packages."""
    return sorted({*_OURS, *_offered()})


def backend(name: str) -> type[Backend]:
    """The backend of a name, which it is imported for."""
    if name in _OURS:  # without a look at every installed distribution
        module, _, called = _OURS[name].partition(":")
        return getattr(import_module(module), called)  # type: ignore[no-any-return]
    offered = _offered()
    if name not in offered:
        hint = nearest_name(name, [*_OURS, *offered])
        raise ParameterError("engine", f"there is none called '{name[:40]}'", hint=hint)
    try:
        found: type[Backend] = offered[name].load()
    except Exception as error:  # whatever a package of somebody else's raises
        raise ParameterError(
            "engine",
            f"'{name}' of {offered[name].value} cannot be imported: {type(error).__name__}",
            hint="Mend or uninstall the package that offers it.",
        ) from error
    return found


def here() -> Backend:
    """The backend of this machine's memory."""
    return backend("local")()


def _offered() -> dict[str, EntryPoint]:
    """What other packages offer, by name."""
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=GROUP)}


@dataclass(frozen=True)
class BackendChoice:
    """Which backend a command takes.

    Attributes:
        name: of the backend.
        master: where it is; None is this machine.
        settings: its own.
    """

    name: str = "local"
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def require_possible(
        self, promise: Promise, format_name: str | None, options: ReadingOptions
    ) -> None:
        """Refuse records that it does not take in, before it starts."""
        backend(self.name).require_possible(promise, format_name, options)

    @contextmanager
    def running(self) -> Iterator[Backend]:
        """The backend while a command runs."""
        with backend(self.name).opened(self.master, self.settings) as found:
            yield found


HERE = BackendChoice()


@dataclass(frozen=True)
class Stored:
    """The records of a study as they are stored on disk.

    Attributes:
        folder: where.
        ledger: which of them count.
        promise: the rules.
    """

    folder: Folder
    ledger: Ledger = field(repr=False)
    promise: Promise


@dataclass(frozen=True)
class AddOptions:
    """What a steward states about some new records.

    Attributes:
        complete: they are all there is to know, so that what they lack has vanished.
        strict: the first row that breaks a rule refuses all; else such rows are set aside, and
            listed beside the batch.
        yes: the rest is added although more than a tenth is set aside, or nothing is left.
        ignore_after_end: records dated after the last step are left out, and counted; else they
            are set aside.
        undated: what becomes of people without a date; None leaves it to the study's rule.
        dry_run: they are only read and checked; nothing is changed.
    """

    complete: bool = False
    strict: bool = False
    yes: bool = False
    ignore_after_end: bool = False
    undated: Literal["refuse", "first", "drop"] | None = None
    dry_run: bool = False


AS_USUAL = AddOptions()


class ValidatedBatch(Protocol):
    """A batch that could be added: what would be stored, and the findings about it."""

    @property
    def last_step(self) -> int:
        """The step at which the last of its records arrives."""

    @property
    def findings(self) -> Findings:
        """The report to the steward about it."""

    def write(self, number: int) -> dict[str, Any]:
        """Write it as the batch of this number; returns the files to name in its private row."""


class PreparedSteps(Protocol):
    """Steps that are ready to be sealed; a secret."""

    @property
    def counts(self) -> SeriesCounts:
        """Of every series."""

    @property
    def steps(self) -> int:
        """How many steps there are, the sealed ones included."""

    def write_segment(self, steps: range) -> dict[str, Any]:
        """Write what some steps add; returns the files, for the private part of each step's row."""

    def keep(self, row: str) -> Mapping[str, str]:
        """Write a checkpoint for the next command; returns what to store beside the rows.

        Args:
            row: the hash of the row of the last step.
        """


class ExtendedGraph(Protocol):
    """The sealed graph with the next steps; a secret."""

    def first_break(self, bound: Bound, since: int) -> int | None:
        """The first step from `since` on at which somebody has more links than promised."""

    def counted(self, series: Collection[SeriesTerms], since: int) -> PreparedSteps:
        """Count every series; those that do not add up are needed from step `since` on only."""


class CacheCheck(Enum):
    """How the cache compares with what was sealed, in words."""

    NOTHING = "nothing: the next step is counted from scratch"
    OTHERWISE = "of another version, or not there: the next step is counted from scratch"
    CHANGED = "was changed: its checksums are not those of the ledger"
    ANOTHER = "does not hold what counting from scratch comes to"
    SAME = "the same as from scratch"


class Recounted(Protocol):
    """Everything that was sealed, counted from its segments alone; a secret."""

    @property
    def counts(self) -> SeriesCounts:
        """Of every series."""

    def compared(self) -> CacheCheck:
        """Verify all checksums of the cache, and compare its content with the counts."""


# The rules for the records of one batch: those of the study, and what its steward says.


def rules_of(rules: RecordRules, undated: Undated | Literal["drop"] | None) -> RecordRules:
    """The rules of a study for one batch: nobody joins the first open step unless it says so."""
    if undated == "first" and rules.undated != "first":
        raise ParameterError(
            "undated", "cannot be 'first': the study says that people without a date are refused",
            hint="Say 'drop' to leave them out; only the file of a draft can still say 'first'.",
        )  # fmt: skip
    chosen: Undated = "refuse" if undated == "refuse" else "first"
    return rules if undated is None else replace(rules, undated=chosen)
