"""Untidy records: from what a file says to persons and steps, row by row.

Every row stays in its place, so that whoever refuses one later can still say where it stands.
The rules are told in `docs/records.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError
from graphveil.graph.arrivals import dated_column
from graphveil.graph.identity import clean_ids, same_form
from graphveil.graph.records import Records, Table

if TYPE_CHECKING:
    import polars as pl

    from graphveil.study.study_file import RecordRules, StudyFile


@dataclass(frozen=True, eq=False)
class Tidied:
    """Records with persons for ids and steps for times.

    Attributes:
        records: nodes(node, time) and edges(source, target, time), in one form.
        trimmed: how many ids had blanks around them.
        folded: how many nodes come from before the first step, and so count into it.
    """

    records: Records = field(repr=False)
    trimmed: int = field(repr=False)
    folded: int = field(repr=False)


def tidy(records: Records, study: StudyFile) -> Tidied:
    """The same rows, each in its place, with persons and steps."""
    calendar, rules = study.steps(), study.records
    nodes, blanks = _with_persons(records.nodes, ("node",), rules)
    nodes, folded = _stepped(nodes, calendar)
    if maps_persons(rules):
        nodes = _earliest_of_each_person(nodes)
    elif nodes.frame["time"].has_nulls():
        nodes = _with_time_of_other_rows(nodes)
    if rules.undated == "refuse":
        _require_times(nodes)
    edges, more_blanks = _with_persons(records.edges, ("source", "target"), rules)
    edges, _ = _stepped(edges, calendar)
    return Tidied(Records(nodes, edges), blanks + more_blanks, folded)


def maps_persons(rules: RecordRules) -> bool:
    """Whether several ids can be one person."""
    return bool(rules.person_separator) or rules.case == "fold"


def _with_persons(table: Table, columns: tuple[str, ...], rules: RecordRules) -> tuple[Table, int]:
    """The table with clean ids, all numbers or all text, and how many had blanks around."""
    cleaned = [clean_ids(table, column) for column in columns]
    persons = same_form(*(_persons(ids.column, rules) for ids in cleaned))
    named = [ids.alias(column) for ids, column in zip(persons, columns, strict=True)]
    trimmed = sum(ids.trimmed for ids in cleaned)
    return replace(table, frame=table.frame.with_columns(named)), trimmed


def _persons(ids: pl.Series, rules: RecordRules) -> pl.Series:
    """The person of each id: what stands before the separator, in one case."""
    import polars as pl

    if not maps_persons(rules):
        return ids
    text = ids.cast(pl.String)
    if rules.person_separator:
        text = text.str.splitn(rules.person_separator, 2).struct.field("field_0").str.strip_chars()
    return text.str.to_lowercase() if rules.case == "fold" else text


def _stepped(table: Table, calendar: Calendar) -> tuple[Table, int]:
    """Times as numbers of steps, nothing where there is no time; and how many were folded."""
    import polars as pl

    frame = table.frame
    if "time" not in frame.columns:
        return replace(table, frame=frame.with_columns(pl.lit(None, pl.Int32).alias("time"))), 0
    dated = dated_column(calendar, table)
    steps = pl.Series("time", dated.steps, dtype=pl.Int32)
    if dated.missing_count:
        steps = steps.set(pl.Series(dated.missing), None)
    return replace(table, frame=frame.with_columns(steps)), dated.folded


def _require_times(nodes: Table) -> None:
    missing = nodes.frame["time"].is_null()
    if missing.any():
        raise InputError(
            "the time is missing",
            place=nodes.place(int(missing.arg_max() or 0), "time"),
            hint="Fill it in, or let the study say that undated nodes join the first open step.",
        )


def _with_time_of_other_rows(nodes: Table) -> Table:
    """A row without a time says nothing where another row of the node has one."""
    import polars as pl

    known = pl.col("time").fill_null(pl.col("time").min().over("node"))
    return replace(nodes, frame=nodes.frame.with_columns(known))


def _earliest_of_each_person(nodes: Table) -> Table:
    """Several sequences of one person are one node, which arrives with the first of them."""
    import polars as pl

    return replace(nodes, frame=nodes.frame.with_columns(pl.col("time").min().over("node")))
