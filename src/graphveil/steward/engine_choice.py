"""Which engine counts for one command: a matter of this machine that is never published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from graphveil.backends import Engine


@dataclass(frozen=True)
class EngineChoice:
    """Where counting runs.

    Attributes:
        spark: on Spark; else on this machine.
        master: of Spark; None takes every core of this machine.
        settings: of Spark.
    """

    spark: bool = False
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def running(self) -> Iterator[Engine | None]:
        """The engine while a command runs; None is the one of this machine."""
        if not self.spark:
            yield None
            return
        from graphveil.backends.spark import SparkCluster, SparkEngine, opened
        from graphveil.backends.spark.intake.taking import workspace_of

        session = opened(self.master, self.settings)
        scratch = workspace_of(session)
        try:
            yield cast("Engine", SparkEngine(SparkCluster(session), scratch))
        finally:
            scratch.remove()


HERE = EngineChoice()
