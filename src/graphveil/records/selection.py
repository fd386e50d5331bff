"""What is read of a table besides ids: dates, and the columns that say whether a row counts.

The columns come along under names of their own; `Selection.applied` judges every row by them, one
at a time, and leaves ids and one time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.groups import GROUP, column_of
from graphveil.graph.intake.records import Table, Violation
from graphveil.records.columns import names_by_text, no_such, plain, unnamed_date
from graphveil.records.dates import first_said, tidied, undated
from graphveil.records.format import Claimed, Note, ParsedFile, file_report
from graphveil.records.options import (
    NUMBER,
    Filter,
    Kind,
    ReadingOptions,
    Threshold,
    distance_column,
)
from graphveil.records.table_file import TableFile, table_file

_DISTANCE, _CONDITION, _TIME = "distance", "condition", "time"


@dataclass(frozen=True)
class Selection:
    """What is read of one table besides ids, under the user's names.

    Attributes:
        kind: what the table lists.
        times: the columns that date its rows, the first that says something counts.
        conditions: what its rows have to meet, each with its column.
        groups: the columns that have people's labels, each with its group.
        distance: the column that makes a pair a link, or none.
        threshold: up to which distance it does.
    """

    kind: Kind
    times: tuple[str, ...] = ()
    conditions: tuple[tuple[Filter, str], ...] = ()
    distance: str | None = None
    threshold: Threshold | None = None
    groups: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        kind: Kind,
        options: ReadingOptions,
        source: str,
        times: Sequence[str] = (),
    ) -> Selection:
        """What the steward's options ask of a table with these columns."""
        conditions = conditions_on(names, kind, options.filters, source)
        if kind == "nodes":
            groups = labels_in(names, options)
            return cls(kind, tuple(times), conditions, groups=groups)
        column = distance_column(names, options.distance, options.threshold, source)
        threshold = options.threshold if column is not None else None
        if column is not None and threshold is not None:
            threshold = threshold.in_unit_of(column, Place(source, column=column))
        return cls(kind, tuple(times), conditions, column, threshold)

    @property
    def used(self) -> frozenset[Filter]:
        """The conditions as they were understood, each for its kind of table."""
        return frozenset(replace(each, kind=self.kind) for each, _ in self.conditions)

    @property
    def columns(self) -> dict[str, str]:
        """The user's names, by those under which `applied` expects the columns."""
        times = {_numbered(_TIME, n): column for n, column in enumerate(self.times)}
        conditions = {
            _numbered(_CONDITION, n): column for n, (_, column) in enumerate(self.conditions)
        }
        distance = {} if self.distance is None else {_DISTANCE: self.distance}
        labels = {column_of(group): column for group, column in self.groups}
        return times | conditions | distance | labels

    def applied(self, table: Table, options: ReadingOptions) -> Selected:
        """The rows that count, with one time each; the others, and what there is to say."""
        selected, violations, notes = self._judged(table)
        counting = table.marked(*violations)
        left_out = None
        if not selected.all():
            mask = selected.to_numpy()
            left_out, counting = _bare(table.kept(~mask)), counting.kept(mask)
        if not self.times:
            return Selected(_bare(counting), left_out, notes)
        times = [counting.frame[_numbered(_TIME, n)] for n in range(len(self.times))]
        ids = _bare(counting)
        frame = ids.frame.with_columns(first_said(times))
        names = {**ids.names, _TIME: ", ".join(self.times)}
        dated, changed = tidied(replace(ids, frame=frame, names=names), options)
        return Selected(dated, left_out, [*notes, *changed])

    def _judged(self, table: Table) -> tuple[pl.Series, list[Violation], list[Note]]:
        """Which rows count, those that cannot be judged, and how many do not count."""
        selected = pl.repeat(True, table.frame.height, dtype=pl.Boolean, eager=True)
        violations: list[Violation] = []
        notes: list[Note] = []
        for n, (condition, _) in enumerate(self.conditions):
            name = _numbered(_CONDITION, n)
            meets, unclear = condition.kept(table.frame[name], name)
            notes += _note(f"rows left out: not {condition.text}", table, selected & ~meets)
            selected, violations = selected & meets, [*violations, *unclear]
        if self.threshold is not None:
            near, unclear = _near(table.frame[_DISTANCE], self.threshold)
            notes += _note(f"pairs further apart than {self.threshold}", table, selected & ~near)
            selected, violations = selected & near, [*violations, *unclear]
        return selected, violations, notes


@dataclass(frozen=True, eq=False)
class Selected:
    """Rows that count, those that were left out by a condition, and notes on both."""

    table: Table
    left_out: Table | None
    notes: list[Note]


def labels_in(names: Sequence[str], options: ReadingOptions) -> tuple[tuple[str, str], ...]:
    """The groups whose column a table has, each with the user's name of it."""
    theirs = names_by_text(names)
    return tuple(
        (group, theirs[plain(column)])
        for group, column in options.named_groups
        if plain(column) in theirs
    )


def conditions_on(
    names: Sequence[str], kind: Kind, filters: Sequence[Filter], source: str
) -> tuple[tuple[Filter, str], ...]:
    """The conditions that a table of a kind is held to, each with the user's column."""
    theirs, chosen = names_by_text(names), []
    for each in filters:
        column = theirs.get(plain(each.column))
        if each.kind not in (None, kind) or (column is None and each.kind is None):
            continue
        if column is None:
            raise no_such("column", Place(source, column=each.column), names, [])
        chosen.append((each, column))
    return tuple(chosen)


def _numbered(name: str, number: int) -> str:
    return f"{name} {number}"


def _bare(table: Table) -> Table:
    """The ids, and people's labels as text."""
    ids = [name for name in ("node", "source", "target") if name in table.frame.columns]
    labels = [name for name in table.frame.columns if name.startswith(GROUP)]
    return replace(
        table, frame=table.frame.select(*ids, *(pl.col(each).cast(pl.String) for each in labels))
    )


def _near(distances: pl.Series, threshold: Threshold) -> tuple[pl.Series, list[Violation]]:
    """Which pairs are near enough, and those whose distance is invalid."""
    texts = distances.cast(pl.String).fill_null("").str.strip_chars()
    numbers = texts.cast(pl.Float64, strict=False)
    unclear = ~texts.str.contains(NUMBER) | (numbers < 0).fill_null(True)
    near = (numbers <= float(threshold.most)).fill_null(False) | unclear
    if not unclear.any():
        return near, []
    rule, hint = "the distance is missing or is no number", "Correct it, or remove the row."
    return near, [Violation.where(unclear, _DISTANCE, rule, hint)]


def _note(rule: str, table: Table, met: pl.Series) -> list[Note]:
    count = int(met.sum())
    if not count:
        return []
    numbers = (table.place(row, _DISTANCE).row or 0 for row in met.arg_true().head(8).to_list())
    return [Note.of_rows(rule, count, numbers)]


# Which columns of a table date its nodes or edges, or the refusal if there are none.
#
# A refusal is returned rather than raised where another file may have the dates.


OWN_TIME = "time"

Dating = tuple[tuple[str, ...], InputError | None]


def named_columns(named: str, is_there: Callable[[str], bool]) -> list[str]:
    """The columns that an option names: one, or several with commas between them."""
    if is_there(named):
        return [named]
    return [part.strip() for part in named.split(",") if part.strip()]


def node_time_columns(table: TableFile, named: str | None) -> Dating:
    """The columns that date nodes: those named, or else the one called time.

    Where only some of those named are here, these date its nodes, if other files have the rest.
    """
    columns, missing = _columns_named(table, named or OWN_TIME)
    if missing is None:
        return columns, None
    if named is not None:
        return columns, no_such_column(table, missing)
    return (), unnamed_date("column", "node", Place(table.file.name), table.date_columns())


def edge_time_columns(table: TableFile, named: str | None, otherwise: str = "") -> Dating:
    """The columns that date edges: those named, or else the one called `otherwise`."""
    if named is None and not otherwise:
        return (), None
    columns, missing = _columns_named(table, named or otherwise)
    if missing is None:
        return columns, None
    return (), None if named is None else no_such_column(table, missing)


def own_time_column(table: TableFile) -> tuple[str, ...]:
    """The column called time, where another file has the one that was named."""
    return _columns_named(table, OWN_TIME)[0]


def _columns_named(table: TableFile, named: str) -> tuple[tuple[str, ...], str | None]:
    """The user's columns of these names, and the first name that is not there."""
    theirs = names_by_text(table.names)
    wanted = named_columns(named, lambda name: plain(name) in theirs)
    missing = [name for name in wanted if plain(name) not in theirs]
    return tuple(theirs[plain(name)] for name in wanted if name not in missing), (
        missing[0] if missing else None
    )


def dated_by(times: Sequence[str], named: str | None) -> list[Note]:
    """Which columns of a table date its people, if that was said."""
    if named is None:
        return []
    if times:
        return [Note(f"dated by the column '{', '.join(times)}'")]
    return [Note(f"no column '{named}': people without a date here are dated by the other files")]


def no_such_column(table: TableFile, named: str) -> InputError:
    """The refusal of a date column that was named but is not there."""
    place = Place(table.file.name, column=named)
    return no_such("column", place, table.names, table.date_columns())


# Tables of people and tables of links, whatever their columns are called.


def read_table(
    claimed: Claimed, format_name: str, options: ReadingOptions, *, directed: bool | None = None
) -> ParsedFile:
    """The people or links of a claimed file; its claim names the columns of ids.

    Args:
        claimed: the file.
        format_name: what reports call its format.
        options: what the steward says.
        directed: whether links have a direction; None if the format does not say.
    """
    if claimed.claim.role == "nodes":
        return _people(claimed, format_name, options)
    return replace(_links(claimed, format_name, options), directed=directed)


def _people(claimed: Claimed, format_name: str, options: ReadingOptions) -> ParsedFile:
    source = table_file(claimed.file)
    said, refusal = node_time_columns(source, options.time)
    times = said or own_time_column(source)
    chosen = Selection.of(source.names, "nodes", options, claimed.file.name, times)
    columns = {"node": claimed.claim.columns[0], **chosen.columns}
    applied = chosen.applied(source.read(columns, options.table_bytes), options)
    table = applied.table if times else undated(applied.table)
    notes = [*dated_by(times, options.time), *applied.notes]
    return ParsedFile(
        file_report(claimed, format_name, nodes=[table], notes=notes),
        nodes=(table,),
        times=said,
        without_time=refusal,
        left_out=() if applied.left_out is None else (applied.left_out,),
        conditions=chosen.used,
    )


def _links(claimed: Claimed, format_name: str, options: ReadingOptions) -> ParsedFile:
    source = table_file(claimed.file)
    times, refusal = edge_time_columns(source, options.edge_time, OWN_TIME)
    times = times or own_time_column(source)
    chosen = Selection.of(source.names, "edges", options, claimed.file.name, times)
    ends = dict(zip(("source", "target"), claimed.claim.columns, strict=False))
    table = source.read({**ends, **chosen.columns}, options.table_bytes)
    applied = chosen.applied(table, options)
    report = file_report(claimed, format_name, edges=[applied.table], notes=applied.notes)
    return ParsedFile(
        report,
        edges=(applied.table,),
        without_edge_time=refusal,
        conditions=chosen.used,
        threshold=chosen.threshold,
    )
