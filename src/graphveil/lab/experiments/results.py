"""Results: one row per mechanism, subject, ε and number of releases, and how they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO

from graphveil.deferred import pl
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound
from graphveil.lab.experiments.comparison import CONTENDERS, Outcome
from graphveil.lab.experiments.subjects import Subject
from graphveil.whole_files import write_whole

DIGITS = 6  # of errors; far more than 100 runs can tell


@dataclass(frozen=True)
class Row:
    """One number of one figure.

    Attributes:
        dataset: its name.
        version: directed or undirected.
        statistic: as it was asked for.
        counted: what was counted in this version, with its parameters.
        figure: "epsilon" or "time"; empty while the row belongs to none.
        mechanism: one of the candidates.
        epsilon: the privacy loss of the whole series.
        releases: how many releases the series has.
        every: how many steps lie between two of them.
        runs: how often it was simulated.
        seed: of the noise.
        error: the mean relative L1 error.
        standard_error: of that mean.
        absolute_error: the mean of |A − f|, over runs and releases.
        noiseless_error: the relative error without noise: what is dropped with links.
        zero_error: the relative error of always publishing 0.
        bound: the degree bound, as "15" or "in 10, out 15".
        tau: the threshold of a high-degree count.
        sensitivity: what the noise was calibrated to; None of a candidate of one's own.
        noise: the mechanism that drew the noise.
        threshold: of the projection, or the promise with hubs.
        absolute_threshold: the same, where it was tuned by the absolute error.
        early: the part of the relative error that the first fifth of the releases has.
        worst_loss: what the most exposed person of the data loses, in multiples of ε.
    """

    dataset: str
    version: str
    statistic: str
    counted: str
    figure: str
    mechanism: str
    epsilon: float
    releases: int
    every: int
    runs: int
    seed: int
    error: float
    standard_error: float
    absolute_error: float
    noiseless_error: float
    zero_error: float
    bound: str
    tau: int | None
    sensitivity: int | None
    noise: str
    threshold: str | None
    absolute_threshold: str | None
    early: float
    worst_loss: float

    @property
    def place(self) -> tuple[str, str, str]:
        """Which panel of a figure it belongs to: dataset, version, statistic."""
        return self.dataset, self.version, self.statistic


def row(
    subject: Subject,
    outcome: Outcome,
    *,
    epsilon: float,
    releases: int,
    every: int,
    runs: int,
    seed: int,
    zero_error: float,
) -> Row:
    """One outcome as a row that belongs to no figure yet."""
    return Row(
        dataset=subject.dataset,
        version=subject.version,
        statistic=subject.asked,
        counted=str(subject.statistic),
        figure="",
        mechanism=outcome.mechanism,
        epsilon=epsilon,
        releases=releases,
        every=every,
        runs=runs,
        seed=seed,
        error=_rounded(outcome.error),
        standard_error=_rounded(outcome.standard_error),
        absolute_error=_rounded(outcome.absolute_error),
        noiseless_error=_rounded(outcome.noiseless_error),
        zero_error=_rounded(zero_error),
        bound=subject.bound.brief,
        tau=subject.tau,
        sensitivity=outcome.sensitivity,
        noise=outcome.noise,
        threshold=_brief(outcome.threshold),
        absolute_threshold=_brief(outcome.absolute_threshold),
        early=_rounded(outcome.early),
        worst_loss=_rounded(outcome.worst_loss),
    )


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows by panel in the order in which panels first occur, then figure, ε, T, mechanism."""
    listed = list(rows)
    place = {name: number for number, name in enumerate(competing(listed))}
    panels = {place: number for number, place in enumerate(dict.fromkeys(r.place for r in listed))}
    return sorted(
        listed,
        key=lambda row: (
            panels[row.place],
            row.figure,
            row.epsilon,
            -row.releases,
            place[row.mechanism],
        ),
    )


def competing(rows: Iterable[Row]) -> list[str]:
    """The candidates that occur: those of the comparison in its order, then the user's own."""
    occurring = dict.fromkeys(row.mechanism for row in rows)
    known = [name for name in CONTENDERS if name in occurring]
    return [*known, *(name for name in occurring if name not in known)]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Store rows as Parquet or CSV, by the ending of the file's name."""
    frame = as_frame(rows)
    write = frame.write_csv if path.suffix == ".csv" else frame.write_parquet
    write_into(path, write)


def read_rows(path: Path) -> list[Row]:
    """The rows that `write_rows` stored."""
    schema = _schema()
    csv = path.suffix == ".csv"
    frame = pl.read_csv(path, schema_overrides=schema) if csv else pl.read_parquet(path)
    if frame.schema != schema:
        raise ValueError("the columns are not those of results")
    return [Row(**values) for values in frame.select(*schema).to_dicts()]


def as_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """Rows as a tidy data frame."""
    return pl.DataFrame([asdict(each) for each in rows], schema=_schema())


def write_into(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file of results, whole or not at all, in a folder made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError("out", f"cannot be written: {error.strerror}") from error
    write_whole(path, write, parameter="out")


def write_content(path: Path, content: bytes) -> None:
    """Put content into a file, whole or not at all."""
    write_into(path, lambda file: file.write(content))


def _schema() -> dict[str, pl.DataType]:
    kinds: dict[str, pl.DataType] = {"int": pl.Int64(), "float": pl.Float64(), "str": pl.String()}
    return {field.name: kinds[str(field.type).split(" ")[0]] for field in fields(Row)}


def _brief(threshold: Bound | None) -> str | None:
    return None if threshold is None else threshold.brief


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
