"""Resolving: what a source says becomes people and steps, row by row.

The one place where ids are cleaned and times are dated. Every row stays where it was, so that
a refusal later on can still name the row. The rules are described in
`docs/records.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.calendar.times import values_of
from graphveil.deferred import pl
from graphveil.errors import InputError, Place, RecordError
from graphveil.graph.groups import GROUP, NO_GROUPS, Groups, Unlisted, column_of
from graphveil.graph.intake.identity import (
    IdIndex,
    clean_ids,
    refuse_missing,
    shortest_form,
    spelled_alike,
)
from graphveil.graph.intake.records import Records, Table, Violation
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.sequence import UNSTATED
from graphveil.hints import Hint

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar


Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Strata = NDArray[np.int32]
NO_TIME = "the time is missing"  # the rule that refuses nodes without a time
NO_TIME_HINT = "Fill it in, or choose the rule that undated nodes join the first open step."


@dataclass(frozen=True, eq=False)
class Resolved:
    """Records with people for ids and steps for times; a secret.

    Attributes:
        nodes: columns `node` and `step`, which is null where nobody states a time; and `stratum`,
            the labels of the person, where a study has groups.
        edges: columns `source`, `target` and `step`, likewise.
        trimmed_ids: how many ids had blanks around them.
        respelled_ids: how many ids had invisible characters, or letters in parts.
        folded_nodes: how many nodes come from before the first step, and so count into it.
        nodes_after_end: how many rows of nodes were ignored, because they come after the last.
        edges_after_end: how many rows of edges were.
        nodes_undated: how many rows of nodes without a time were left out.
        edges_undated: how many rows of edges of such nodes were.
        node_rows: which rows of the records the nodes are, where others were left aside; None
            if they are all.
        edge_rows: which rows the edges are, likewise.
        relabelled: how many people have two labels of one group in different rows.
        unlisted: what rows say that is not on the list of a group.
    """

    nodes: Table = field(repr=False)
    edges: Table = field(repr=False)
    trimmed_ids: int = field(default=0, repr=False)
    respelled_ids: int = field(default=0, repr=False)
    folded_nodes: int = field(default=0, repr=False)
    nodes_after_end: int = field(default=0, repr=False)
    edges_after_end: int = field(default=0, repr=False)
    nodes_undated: int = field(default=0, repr=False)
    edges_undated: int = field(default=0, repr=False)
    node_rows: Rows | None = field(default=None, repr=False)
    edge_rows: Rows | None = field(default=None, repr=False)
    relabelled: int = field(default=0, repr=False)
    unlisted: tuple[Unlisted, ...] = field(default=(), repr=False)

    def without(self, nodes: Mask, edges: Mask) -> Resolved:
        """The other rows, with their original places."""
        return replace(
            self,
            nodes=self.nodes.kept(~nodes),
            edges=self.edges.kept(~edges),
            node_rows=_left(self.node_rows, nodes),
            edge_rows=_left(self.edge_rows, edges),
        )

    @contextmanager
    def as_read(self) -> Iterator[None]:
        """Within this context, refused rows are numbered as in the original records."""
        try:
            yield
        except RecordError as refused:
            original = self.node_rows if refused.kind == "nodes" else self.edge_rows
            if original is not None:
                refused.rows = original[refused.rows]
            raise


def _left(rows: Rows | None, aside: Mask) -> Rows:
    """The original places of the rows that are not left out."""
    return np.flatnonzero(~aside) if rows is None else rows[~aside]


def resolve(
    records: Records,
    calendar: Calendar,
    rules: RecordRules,
    *,
    beyond: bool = False,
    groups: Groups = NO_GROUPS,
) -> Resolved:
    """The same rows, each in its place, with people and steps.

    Refuses rows without an id, with a time that the calendar cannot place, or (unless a rule
    says otherwise) of nodes that nobody dates; before them, those that the reader found faulty.

    Args:
        records: as a reader found them.
        calendar: where steps begin.
        rules: for ids and for nodes without a time.
        beyond: whether a time after the end is placed after the last step; else it is refused.
        groups: the public lists of labels that people have.
    """
    records.nodes.require_sound()
    records.edges.require_sound()
    people = persons(records.nodes, ("node",), rules)
    step, folded = dated(records.nodes, calendar, beyond)
    labels = labels_of(records.nodes, people.columns[0], groups)
    nodes = of_one_time_each(_table(records.nodes, *people.columns, step, *labels.strata), rules)
    ends = persons(records.edges, ("source", "target"), rules)
    own, _ = dated(records.edges, calendar, beyond)
    return Resolved(
        nodes,
        _table(records.edges, *ends.columns, own),
        trimmed_ids=people.trimmed + ends.trimmed,
        respelled_ids=people.respelled + ends.respelled,
        folded_nodes=folded,
        relabelled=labels.relabelled,
        unlisted=labels.unlisted,
    )


class Labels(NamedTuple):
    """The labels of each row's person as one number, if a study has groups.

    And how many people state two labels, and what is on no list.
    """

    strata: list[pl.Series]
    relabelled: int
    unlisted: tuple[Unlisted, ...]


def labels_of(nodes: Table, people: pl.Series, groups: Groups) -> Labels:
    """The labels that rows state."""
    require_labels(nodes.frame.columns, groups, nodes.source, rows=len(nodes.frame))
    if not groups:
        return Labels([], 0, ())
    said = strata_said(nodes.frame, groups)
    strata, relabelled = first_strata(people, said, groups)
    return Labels(
        [pl.Series("stratum", strata)], relabelled, unlisted_in(nodes.frame, said, groups)
    )


def strata_said(rows: pl.DataFrame, groups: Groups) -> Strata:
    """The labels that each row says as one number, by that row alone."""
    none = pl.repeat(None, len(rows), dtype=pl.String, eager=True)  # where there are no rows
    columns = [(group, column_of(group.name)) for group in groups.members]
    return groups.strata(
        [group.cells_of(rows[name] if name in rows.columns else none) for group, name in columns]
    )


def unlisted_in(rows: pl.DataFrame, said: Strata, groups: Groups) -> tuple[Unlisted, ...]:
    """What rows say that is on no list, group by group."""
    columns = [
        (group, column_of(group.name), cells)
        for group, cells in zip(groups.members, groups.places(said), strict=True)
    ]
    found = (group.unlisted(rows[name], cells) for group, name, cells in columns if name in rows)
    return tuple(each for each in found if each.rows)


def first_strata(people: pl.Series, said: Strata, groups: Groups) -> tuple[Strata, int]:
    """The labels of each row's person as one number, and how many people state two labels.

    Of several labels that rows of one person state, the one that comes first in the public list
    counts, so that neither the order of rows nor anybody else decides; `unknown` comes last.
    """
    names = [each.name for each in groups.members]
    frame = pl.DataFrame({"node": people}).with_columns(
        pl.Series(name, places) for name, places in zip(names, groups.places(said), strict=True)
    )
    first = frame.select(pl.col(name).min().over("node") for name in names)
    known = [len(each.cells) - 1 for each in groups.members]
    differs = pl.any_horizontal(
        (pl.col(name) < unknown) & (pl.col(name) != first[name])
        for name, unknown in zip(names, known, strict=True)
    )
    relabelled = frame.filter(differs)["node"].n_unique()
    return groups.strata([first[name].to_numpy() for name in names]), relabelled


def require_labels(columns: Iterable[str], groups: Groups, source: str, *, rows: int) -> None:
    """Refuse labels of a group that the study has not, and people without a column of one.

    Args:
        columns: of a table of people.
        groups: of the study.
        source: what messages call the table.
        rows: how many it has.
    """
    labelled = [name for name in columns if name.startswith(GROUP)]
    for name in labelled:
        groups.axis(name.removeprefix(GROUP), "group")
    for each in groups.members if rows else ():
        if column_of(each.name) not in labelled:
            raise InputError(
                f"no column was named for the group '{each.name}', so that everybody would be "
                "unknown in it",
                place=Place(source),
                hint=Hint("name-group", group=each.name),
            )


def strata_of(table: Table) -> Strata | None:
    """The labels of each row's person, if there are groups."""
    return table.frame["stratum"].to_numpy() if "stratum" in table.frame.columns else None


def nothing() -> Resolved:
    """No records."""
    ids, step = pl.Int64(), pl.Int32()
    nodes = pl.DataFrame(schema={"node": ids, "step": step})
    edges = pl.DataFrame(schema={"source": ids, "target": ids, "step": step})
    return Resolved(Table(nodes, "no nodes"), Table(edges, "no edges"))


def stated_steps(table: Table) -> NDArray[np.int32]:
    """The step that each row states, or UNSTATED."""
    return table.frame["step"].fill_null(UNSTATED).to_numpy()


def _table(source: Table, *columns: pl.Series) -> Table:
    return replace(source, frame=pl.DataFrame(list(columns)))


class Persons(NamedTuple):
    """The person that each id means, and how many ids were trimmed or spelled anew."""

    columns: list[pl.Series]
    trimmed: int
    respelled: int


def persons(table: Table, columns: tuple[str, ...], rules: RecordRules) -> Persons:
    """The persons that the ids of some columns mean; refuses rows without a proper id."""
    cleaned = [clean_ids(table, column) for column in columns]
    id_columns = [ids.column.alias(column) for ids, column in zip(cleaned, columns, strict=True)]
    if rules.merges_ids:
        id_columns = [_merged(table, ids, rules) for ids in id_columns]
    trimmed, respelled = (sum(counts) for counts in list(zip(*cleaned, strict=True))[1:])
    return Persons(id_columns, trimmed, respelled)


def _merged(table: Table, ids: pl.Series, rules: RecordRules) -> pl.Series:
    """The part before the separator, in one case."""
    text = ids.cast(pl.String)
    if rules.person_separator:
        text = text.str.splitn(rules.person_separator, 2).struct.field("field_0").str.strip_chars()
        refuse_missing(table, ids.name, text == "")
    person = spelled_alike(text.str.to_lowercase()) if rules.case == "fold" else text
    return shortest_form(person).alias(ids.name)


def dated(table: Table, calendar: Calendar, beyond: bool) -> tuple[pl.Series, int]:
    """The step of each row, null where it has no time; and how many were folded."""
    if "time" not in table.frame.columns:
        return pl.repeat(None, len(table.frame), dtype=pl.Int32, eager=True).alias("step"), 0
    placed = calendar.steps_of(table.frame["time"], beyond=beyond)
    trouble = placed.trouble
    if trouble is not None:
        shown = str(values_of(table.frame["time"][[int(trouble.rows[0])]])[0])
        raise table.refusal(
            Violation(trouble.rows, "time", trouble.what, trouble.hint, shown=shown)
        )
    steps = pl.Series("step", placed.steps, dtype=pl.Int32)
    if placed.missing_count:
        steps = steps.set(pl.Series(placed.missing), None)
    return steps, placed.folded


def of_one_time_each(nodes: Table, rules: RecordRules) -> Table:
    """What the rows of one node say together about its time.

    A row without a time says nothing where another row has one. Several sequences of one
    person are one node, which arrives with the first of them.
    """
    earliest = pl.col("step").min().over("node")
    if rules.merges_ids:
        nodes = replace(nodes, frame=nodes.frame.with_columns(earliest))
    elif nodes.frame["step"].has_nulls():
        nodes = replace(nodes, frame=nodes.frame.with_columns(pl.col("step").fill_null(earliest)))
    missing = nodes.frame["step"].is_null()
    if rules.undated == "refuse" and missing.any():
        raise nodes.refusal(Violation.where(missing, "time", NO_TIME, NO_TIME_HINT))
    return nodes


# Records dated after the last step: ignored one by one, where their steward says so.
#
# A row is judged by its own time, an edge also by when its two ends arrive: a node that arrives
# after the last step is not there, and has no links. So what is ignored depends on records of
# the persons in it alone, and deleting one person's records changes nothing about anybody
# else's.


def until_end(
    resolved: Resolved, last_step: int | None, is_known: Callable[[pl.Series], Mask]
) -> Resolved:
    """Resolved records without those dated after the last step, which are counted.

    A row of somebody who is known already says nothing about their time, as one without it.

    Args:
        resolved: with a step after the last where the time is after the end.
        last_step: of the calendar; None if nothing is after its end.
        is_known: whether nodes were there before these records.
    """
    late, late_edges = (_after(table, last_step) for table in (resolved.nodes, resolved.edges))
    if not late.any() and not late_edges.any():
        return resolved
    ids = resolved.nodes.frame["node"]
    again = late & is_known(ids)
    ignored = late & ~again
    late_edges |= linked_to(resolved.edges, ids, ignored)
    return replace(
        replace(resolved, nodes=_undated(resolved.nodes, again)).without(ignored, late_edges),
        nodes_after_end=int(ignored.sum()),
        edges_after_end=int(late_edges.sum()),
    )


def _after(table: Table, last_step: int | None) -> Mask:
    steps = stated_steps(table)
    return np.zeros(len(steps), np.bool_) if last_step is None else steps > last_step


def _undated(nodes: Table, rows: Mask) -> Table:
    """Nodes of which some rows no longer state a step."""
    step = pl.when(pl.Series(rows)).then(None).otherwise(pl.col("step")).alias("step")
    return replace(nodes, frame=nodes.frame.with_columns(step))


def linked_to(edges: Table, ids: pl.Series, ignored: Mask) -> Mask:
    """The edges of people of whom every row is ignored."""
    gone, here = (IdIndex.of(ids.filter(pl.Series(rows)).unique()) for rows in (ignored, ~ignored))
    found = np.zeros(len(edges.frame), np.bool_)
    for end in ("source", "target"):
        named = edges.frame[end]
        found |= (gone.labels(named) >= 0) & (here.labels(named) < 0)
    return found


# People without a date: left out one by one, with their links, where their steward says so.
#
# A person with a date in another row, or added before, is not left out. So what is left out
# depends on records of the persons in it alone.


def dated_only(resolved: Resolved, is_known: Callable[[pl.Series], Mask]) -> Resolved:
    """Resolved records without people who have no date; both are counted.

    Args:
        resolved: with no step where nobody dates a node.
        is_known: whether nodes were there before these records.
    """
    nodes = resolved.nodes.frame
    undated = nodes["step"].is_null().to_numpy()
    if not undated.any():
        return resolved
    dropped = undated & ~is_known(nodes["node"])
    theirs = linked_to(resolved.edges, nodes["node"], dropped)
    return replace(
        resolved.without(dropped, theirs),
        nodes_undated=int(dropped.sum()),
        edges_undated=int(theirs.sum()),
    )
