"""Published numbers as frames, and a summary of a study in text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.deferred import pl
from graphveil.errors import ParameterError, installing
from graphveil.graph.groups import SECOND
from graphveil.noise.exact_numbers import as_text
from graphveil.report import releases
from graphveil.report.estimates import now, revisions, with_estimates
from graphveil.report.ratios import PublishedRatio, all_ratios
from graphveil.report.releases import PublishedChange, all_changes, divided, rows_as_frame
from graphveil.report.wording import counted_things, percent, whole
from graphveil.steward import reporting
from graphveil.steward.status import PoolStatus
from graphveil.study.history import PublishedSeries
from graphveil.study.promise import Promise
from graphveil.study.public_part import LEDGER, STUDY, PublicPart, text_of

if TYPE_CHECKING:
    import pandas as pd


def published(part: PublicPart) -> pl.DataFrame:
    """Every published number, with what all numbers so far say of it now.

    Series whose plan was never published have no revisions: there these columns are empty.
    """
    frame = releases.as_frame(part)
    groups = [f"{each.name}{end}" for each in part.promise.groups.members for end in ("", SECOND)]
    keys = ("series", "step", "degree", *groups)
    revised = {tuple(getattr(each, key) for key in keys): each for each in revisions(part)}
    rows = [revised.get(row) for row in frame.select(keys).iter_rows()]
    now = {
        "revised": pl.Series([row and row.revised for row in rows], dtype=pl.Float64),
        "revised_low": pl.Series([row and row.low for row in rows], dtype=pl.Int64),
        "revised_high": pl.Series([row and row.high for row in rows], dtype=pl.Int64),
        "revised_at": pl.Series([row and row.revised_at for row in rows], dtype=pl.String),
    }
    which = frame.columns[: frame.columns.index("raw")]
    first = frame.columns[len(which) :]
    relative = pl.when(pl.col("revised") > 0).then(pl.col("noise_std") / pl.col("revised"))
    frame = frame.with_columns(**now).with_columns(relative_std=relative)
    return frame.select(*which, *now, "relative_std", *first)


def changed(part: PublicPart) -> pl.DataFrame:
    """What is new over some steps, and against the time before."""
    return rows_as_frame(_divided(PublishedChange, part), all_changes(part))


def quotients(part: PublicPart) -> pl.DataFrame:
    """Every ratio at every step."""
    return rows_as_frame(PublishedRatio, all_ratios(part))


def _divided(kind: type[Any], part: PublicPart) -> type[Any]:
    return divided(kind, tuple(each.name for each in part.promise.groups.members))


def as_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The same rows as a pandas frame, if that library is here."""
    try:
        return frame.to_pandas()
    except ImportError as error:
        hint = f"Install it: {installing('interchange')}"
        raise ParameterError("pandas", "is not installed, or pyarrow is not", hint=hint) from error


# Overview of a study, in text and HTML, from its public part alone.


NOTHING = "–"
_NO_RELEASE = (NOTHING, NOTHING, NOTHING)
_HEADER = ("series", "counts", "ε", "newest", "estimate", "interval")


@dataclass(frozen=True)
class Public:
    """What anybody may know of a study.

    Attributes:
        promise: what it says.
        part: what it has announced; None of a draft.
    """

    promise: Promise
    part: PublicPart | None

    @classmethod
    def of(cls, folder: Path) -> Public:
        """The study in a folder, or its public part by itself."""
        public = reporting.find(folder)
        if not (public / LEDGER).exists():
            return cls(Promise.from_toml(text_of(public / STUDY), STUDY), None)
        part = PublicPart.read(public)
        return cls(part.promise, part)

    @property
    def facts(self) -> list[str]:
        """What there is to say, a line each."""
        promise = self.promise
        left, _ = promise.budget_left()
        return [
            f"{promise.population}; published by {promise.publisher}.",
            f"{promise.calendar.describe()}.".capitalize(),
            promise.bound_sentence,
            f"ε = {promise.budget.epsilon} in all, of which {as_text(left)} is left.",
            *([f"Of this, {pool}."] if (pool := PoolStatus.of(promise)) else []),
            self._published,
        ]

    @property
    def _published(self) -> str:
        steps = () if self.part is None else self.part.steps
        if not steps:
            return "Nothing is published yet."
        labels = dict.fromkeys((steps[0].label, steps[-1].label))
        return f"Published: {' to '.join(labels)}."

    def rows(self) -> Iterator[tuple[str, ...]]:
        """One for each series: what it is, and its newest number."""
        if self.part is None:
            for each in self.promise.series:
                yield each.name, each.counted_in_symbols(), each.share, *_NO_RELEASE
        else:
            for series in with_estimates(self.part).series:
                yield (
                    series.series,
                    counted_things(series),
                    series.promise.share,
                    *_newest(series),
                )


def _newest(series: PublishedSeries) -> tuple[str, str, str]:
    if not series.releases:
        return _NO_RELEASE
    made = series.releases[-1]
    if series.vector:
        return made.label, f"{len(made.raw)} numbers", f"{percent(made.level)} each"
    known = now(series, made)
    interval = f"{max(known.low, 0):,} to {max(known.high, 0):,} ({percent(made.level)})"
    return made.label, whole(known.value), interval


def as_lines(public: Public) -> Iterator[str]:
    """The summary for a terminal."""
    yield public.promise.title
    yield from (f"  {fact}" for fact in public.facts)
    for name, counts, share, *newest in public.rows():
        state = "nothing published" if newest[0] == NOTHING else f"newest: {', '.join(newest)}"
        yield f"  {name}: {counts}; {share if 'pool' in share else f'ε = {share}'}; {state}"


def as_html(public: Public) -> str:
    """The summary for a notebook."""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in public.facts)
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEADER)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in public.rows()
    )
    return (
        f"<div><strong>{escape(public.promise.title)}</strong><ul>{facts}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        "<small>From the public part alone.</small></div>"
    )
