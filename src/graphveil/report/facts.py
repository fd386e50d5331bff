"""The facts of the public ledger, each with the types that its readers rely on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar, cast

from graphveil.errors import IntegrityError
from graphveil.study.chain import PublicRow
from graphveil.study.study_file import SeriesPromise

LEDGER = "ledger.jsonl"
Fact = TypeVar("Fact")


@dataclass(frozen=True)
class Software:
    """Which versions were at work."""

    software: str
    noise: str


@dataclass(frozen=True)
class StudyOpened(Software):
    """The promise as it was first made."""

    study: dict[str, Any]


@dataclass(frozen=True)
class SealedStep:
    """A step that is published and will never change."""

    step: int
    label: str


@dataclass(frozen=True)
class Released:
    """What a series said at one step; every list has one entry per number of the series."""

    series: str
    step: int
    label: str
    raw: tuple[int, ...]
    processed: tuple[float, ...]
    processing: str
    std: float
    level: str
    low: tuple[int, ...]
    high: tuple[int, ...]


@dataclass(frozen=True)
class SensitivityFact:
    """What one person can change, and what that rests on."""

    l1: int
    exact: bool
    assumption: str
    proof: str


@dataclass(frozen=True)
class NoiseFact:
    """The law of the noise over a stretch of steps, told by its scale or by its variance."""

    law: str
    steps: int
    scale: str | None = None
    variance: str | None = None

    @property
    def size(self) -> tuple[str, str]:
        """The name of what tells its size, and the value, exact."""
        return (
            ("scale", self.scale) if self.scale is not None else ("variance", self.variance or "0")
        )


@dataclass(frozen=True)
class SeriesFacts:
    """A series as it was opened, and what it has said since.

    Attributes:
        series: its name.
        promise: what the study file says about it.
        summary: what is counted.
        epsilon: what its whole life costs.
        projection: the thresholds to which graphs are cut; None if they are taken as they are.
        numbers: how many numbers a release has: 1, or one per degree from 0 on.
        predicted_std: the noise that was announced, release by release.
        releases: in the order of steps.
    """

    series: str
    promise: SeriesPromise
    statistic: str
    parameters: dict[str, int | str]
    summary: str
    epsilon: Fraction
    delta: Fraction | None
    mechanism: str
    mechanism_summary: str
    projection: int | tuple[int, ...] | None
    horizon: int | None
    first_step: int
    first_label: str
    numbers: int
    sensitivity: SensitivityFact
    noise: tuple[NoiseFact, ...]
    predicted_std: tuple[float, ...]
    monotone: bool
    releases: tuple[Released, ...] = ()

    @property
    def vector(self) -> bool:
        """Whether a release has one number per degree."""
        return self.numbers > 1


def fact(kind: type[Fact], row: PublicRow) -> Fact:
    """What a row says, with every part of the right type; parts nobody asked for are left."""
    from pydantic import ValidationError

    try:
        found: Fact = _reader(cast("Hashable", kind)).validate_python(row.fact)
    except ValidationError as error:
        flaw = error.errors()[0]
        where = ".".join(str(part) for part in flaw["loc"])
        raise IntegrityError(f"{place(row)}: '{where}' cannot be read: {flaw['msg']}.") from error
    return found


@cache
def _reader(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def place(row: PublicRow) -> str:
    """Where a row is, for messages."""
    return f"{LEDGER}, row {row.number} ({row.event})"


def require(held: bool, row: PublicRow, problem: str) -> None:
    """Refuse a row that cannot stand where it does."""
    if not held:
        raise IntegrityError(f"{place(row)}: {problem}.")
