"""Releases and changes as tidy rows, and the columns of all public tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from graphveil.deferred import pl
from graphveil.errors import StudyError
from graphveil.graph.groups import SECOND
from graphveil.hints import Hint
from graphveil.mechanisms.planning.change import Change
from graphveil.noise.exact_numbers import as_text
from graphveil.report.wording import counted_links
from graphveil.statistics.breakdown import ALIKE, MIXED, cell_words

if TYPE_CHECKING:
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

NEVER = "never"
KINDS = {"str": "text", "int": "whole number", "float": "number"}


# Columns: each is said once, with its meaning, where its row is defined.


def described(meaning: str, *, empty: str = NEVER) -> Any:
    """A field of a row.

    Args:
        meaning: what it says, for somebody who has the file and nothing else.
        empty: when it has no value.
    """
    return field(metadata={"meaning": meaning, "empty": empty})


def divided(kind: type[Any], groups: tuple[str, ...]) -> type[Any]:
    """Rows of a kind with the labels of people in some groups: of links, of both ends."""
    return _divided(cast("Hashable", kind), groups) if groups else kind


@cache
def _divided(kind: Any, groups: tuple[str, ...]) -> type[Any]:
    unless = "unless the series is divided by it"
    columns = []
    for name in groups:
        whom = "of the people who are counted; of links, of one end (directed: whence they go)"
        meaning = f"the label in the group {name} {whom}, or whether all are {ALIKE} or {MIXED}"
        other = f"the label in the group {name} of the other end of the links that are counted"
        columns.append((name, "str | None", described(meaning, empty=unless)))
        second = described(other, empty="unless the series counts links by both ends")
        columns.append((f"{name}{SECOND}", "str | None", second))
    return make_dataclass(kind.__name__, columns, bases=(kind,), frozen=True)


def cell_columns(groups: Iterable[str], cell: Mapping[str, str]) -> dict[str, str | None]:
    """The columns of groups of one row."""
    names = (each for name in groups for each in (name, f"{name}{SECOND}"))
    return {name: cell.get(name) for name in names}


@dataclass(frozen=True)
class Entry:
    """A row of the data dictionary."""

    file: str = described("the table that has the column")
    column: str = described("the name of the column, as its first line has it")
    type: str = described(
        "what its values are: text, whole number, or number (which may be broken)"
    )
    empty: str = described("when it has no value")
    meaning: str = described("what its values say")


def entries(file: str, rows: type[Any]) -> tuple[Entry, ...]:
    """What the dictionary says of the columns of a table, in their order."""
    return tuple(
        Entry(
            file=file,
            column=each.name,
            type=KINDS[kind_of(each.type)],
            empty=each.metadata["empty"],
            meaning=each.metadata["meaning"],
        )
        for each in fields(rows)
    )


def kind_of(annotation: object) -> str:
    """The type of a column that has a value, such as "int"."""
    return str(annotation).split(" ")[0]


def column_names(rows: type[Any]) -> list[str]:
    """The columns of a table, in their order."""
    return [each.name for each in fields(rows)]


def rows_as_csv(kind: type[Any], rows: Iterable[Any]) -> bytes:
    """Rows of one kind as CSV in UTF-8; what does not apply is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column_names(kind))
    writer.writerows(map(attrgetter(*column_names(kind)), rows))
    return text.getvalue().encode()


def rows_as_frame(kind: type[Any], rows: Iterable[Any]) -> pl.DataFrame:
    """Rows of one kind as a data frame; refuses numbers that one cannot hold."""
    kinds: dict[str, Any] = {"int": pl.Int64(), "float": pl.Float64(), "str": pl.String()}
    schema = {each.name: kinds[kind_of(each.type)] for each in fields(kind)}
    listed = [dict(vars(row)) for row in rows]
    numbers = (value for row in listed for value in row.values() if isinstance(value, int))
    if any(abs(number) >= 2**63 for number in numbers):
        problem = "a published number has more than 64 bits."
        raise StudyError(problem, hint=Hint("table-file"))
    return pl.DataFrame(listed, schema=schema)


# What is new: how a series changed over some steps, and how that compares, with intervals.
#
# Functions of published numbers alone. How far their noise can reach was announced with each
# release; releases of older studies, of which it was not, have no such rows.


NEW, AGAINST = "new", "against the time before"


@dataclass(frozen=True)
class PublishedChange:
    """One change of one number."""

    series: str = described("the name of the series")
    step: int = described("the number of the last step of the time that is looked at, from 0 on")
    label: str = described("the public name of that step")
    degree: int | None = described(
        "which degree (number of links) the number is about",
        empty="if a release of the series is a single number",
    )
    kind: str = described(
        f"{NEW}: now less then; {AGAINST}: new now less what was new in as many steps before"
    )
    over: int = described("how many steps are taken together")
    value: int = described("the change of the raw values, unbiased")
    noise_std: float = described("the standard deviation of the noise in value, rounding included")
    level: str = described("the probability with which low and high enclose the true change")
    low: int = described("the lower end of the interval; for what never falls it is not below 0")
    high: int = described("the upper end of the interval")

    @property
    def clear(self) -> bool:
        """Whether noise alone cannot explain it."""
        return self.low > 0 or self.high < 0


def all_changes(part: PublicPart) -> Iterator[PublishedChange]:
    """Every change that can be stated: by series, then step, then kind, then degree."""
    for series in part.series:
        for made in series.releases:
            yield from changes(series, made)


def changes(
    series: PublishedSeries, made: ReleaseMade, places: slice = slice(None)
) -> Iterator[PublishedChange]:
    """The changes that end at one release, of all its numbers or of some."""
    release = made.step - series.first_step
    told = series.places[places] if made.changes else ()
    for each in made.changes:
        change = Change(each.over, each.against)
        values = change.of(lambda at: series.releases[at].raw[places], release)
        groups = series.promise.group_names
        for (cell, degree), value in zip(told, values, strict=True):
            yield divided(PublishedChange, groups)(
                series=series.series,
                step=made.step,
                label=made.label,
                degree=degree,
                **cell_columns(groups, cell),
                kind=AGAINST if each.against else NEW,
                over=each.over,
                value=value,
                noise_std=each.std,
                level=made.level,
                # What never falls brought nothing below 0.
                low=_least(value - each.width, series, each.against),
                high=_least(value + each.width, series, each.against),
            )


def _least(end: int, series: PublishedSeries, against: bool) -> int:
    return max(end, 0) if series.monotone and not against else end


def new_at(series: PublishedSeries, made: ReleaseMade) -> tuple[PublishedChange, ...]:
    """What is new in a single step, number by number; nothing where that was not announced."""
    single = tuple(each for each in made.changes if each.over == 1 and not each.against)
    return tuple(changes(series, made.model_copy(update={"changes": single}))) if single else ()


FIRST = "at the first release, and where an older version made it"


@dataclass(frozen=True)
class Measurement:
    """One published number."""

    series: str = described("the name of the series")
    statistic: str = described("what is counted, with its parameters, as commands write it")
    step: int = described("the number of the step, from 0 on")
    label: str = described("the public name of the step, such as 2020 or 2020-03")
    degree: int | None = described(
        "which degree (number of links) the number is about",
        empty="if a release of the series is a single number",
    )
    raw: int = described("the count plus noise: unbiased, sometimes negative; compute with this")
    processed: float = described(
        "the same, adjusted by public facts alone (a count is not negative, some never fall); "
        "for looking at"
    )
    noise_std: float = described("the standard deviation of the noise in raw")
    level: str = described("the probability with which low and high enclose the truth")
    low: int = described("the lower end of the interval of the true count; each number by itself")
    high: int = described("the upper end of that interval")
    new: int | None = described("by how much raw has changed since the step before", empty=FIRST)
    new_std: float | None = described("the standard deviation of the noise in new", empty=FIRST)
    new_low: int | None = described("the lower end of the interval of what is new", empty=FIRST)
    new_high: int | None = described("the upper end of that interval", empty=FIRST)
    epsilon: str = described(
        "the price (ε) of the whole series, exact; not of this number alone. Of series that share "
        "a pool, that of the pool: card.json says which"
    )
    delta: str | None = described("likewise its δ", empty="if the guarantee is pure ε")
    mechanism: str = described("how the noise is made")
    threshold: int | None = described(
        "how many links of each person were counted at most: raw, low and high are about these",
        empty="unless the threshold of the series follows what was published",
    )
    scaled: int | None = described(
        "raw before it was rounded, exactly, in 1,024ths of threshold",
        empty="unless the threshold of the series follows what was published",
    )
    limit: str | None = described(
        "how many links of a person are counted at most, in words: raw, low and high are about "
        "what is counted so",
        empty="if the study promises that nobody has more, or counts people whatever their links",
    )

    @property
    def called(self) -> str:
        """The series, and which of its numbers it is."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        cell = {name: own[name] for name in own if name not in _OWN and own[name] is not None}
        words = [self.series, *([cell_words(cell)] if cell else [])]
        return ", ".join(words if self.degree is None else [*words, f"degree {self.degree}"])


_OWN = column_names(Measurement)


def measurements(part: PublicPart, steps: Container[int] | None = None) -> tuple[Measurement, ...]:
    """Every published number, or those of some steps: by series, then step, then degree."""
    return tuple(
        row
        for series in part.series
        for made in series.releases
        if steps is None or made.step in steps
        for row in rows(series, made)
    )


def rows(series: PublishedSeries, made: ReleaseMade) -> Iterator[Measurement]:
    """The numbers of one release, by degree."""
    news, groups = new_at(series, made), series.promise.group_names
    for place, (cell, degree) in enumerate(series.places):
        new = news[place] if news else None
        yield divided(Measurement, groups)(
            series=series.series,
            statistic=counted(series),
            step=made.step,
            label=made.label,
            degree=degree,
            **cell_columns(groups, cell),
            raw=made.raw[place],
            processed=made.processed[place],
            noise_std=made.noise_std,
            level=made.level,
            low=made.low[place],
            high=made.high[place],
            new=new.value if new else None,
            new_std=new.noise_std if new else None,
            new_low=new.low if new else None,
            new_high=new.high if new else None,
            epsilon=as_text(series.epsilon),
            delta=None if series.delta is None else as_text(series.delta),
            mechanism=series.mechanism,
            threshold=made.threshold,
            scaled=made.answers[-1].scaled if made.answers else None,
            limit=counted_links(series, made) or None,
        )


def counted(series: PublishedSeries) -> str:
    """The statistic with its parameters, as commands write it."""
    given = ", ".join(f"{name}={value}" for name, value in sorted(series.parameters.items()))
    return f"{series.statistic} ({given})" if given else series.statistic


def as_csv(part: PublicPart) -> bytes:
    """The rows as CSV in UTF-8; what does not apply is empty."""
    return rows_as_csv(_kind(part), measurements(part))


def _kind(part: PublicPart) -> type[Any]:
    """The rows of a study, with the columns of its groups."""
    return divided(Measurement, tuple(each.name for each in part.promise.groups.members))


def as_json(part: PublicPart) -> bytes:
    """The rows as a list of objects; what does not apply is null."""
    found = [dict(vars(row)) for row in measurements(part)]
    return (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode()


def as_parquet(part: PublicPart) -> bytes:
    """The rows as Parquet; refuses numbers that it cannot hold."""
    content = io.BytesIO()
    as_frame(part).write_parquet(content)
    return content.getvalue()


def as_frame(part: PublicPart) -> pl.DataFrame:
    """The rows as a data frame, with the same columns even if nothing is published."""
    return rows_as_frame(_kind(part), measurements(part))
