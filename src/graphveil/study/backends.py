"""Backends: where the records of a study lie and counting runs, each found by its name.

A backend is a matter of the machine: nothing published or stored says which one it was, every
backend reads what any other has written, and all give the same integers. A package of somebody
else's offers one by an entry point in the group `graphveil.backends`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from graphveil.backends import Engine
from graphveil.errors import ParameterError, nearest_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from graphveil.records import ReadFiles, ReadingOptions
    from graphveil.series.counting import SeriesTerms
    from graphveil.study.promise import Promise
    from graphveil.study.records.record_store import (
        AddOptions,
        ExtendedGraph,
        Recounted,
        Stored,
        ValidatedBatch,
    )

GROUP = "graphveil.backends"
_OURS = {  # nobody's may stand in for one of them
    "local": "graphveil.study.records.local.backend:LocalBackend",
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
