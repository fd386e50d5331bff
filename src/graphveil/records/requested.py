"""What the steward said about columns and conditions, held against what the files have.

A word that fits nowhere is refused: it may be misspelt, and would be ignored without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.groups import column_of
from graphveil.graph.intake.identity import spelled_alike
from graphveil.graph.intake.records import Table
from graphveil.hints import Hint
from graphveil.records.columns import bare, listed, plain
from graphveil.records.distances import NO_DISTANCE
from graphveil.records.filters import Filter
from graphveil.records.format import Claimed, Format, Note, ParsedFile
from graphveil.records.options import NO_LABELS, ReadingOptions

if TYPE_CHECKING:
    import polars as pl


def require_used(options: ReadingOptions, found: Sequence[tuple[Format, Claimed]]) -> None:
    """Refuse a column of ids that was named and that no file has."""
    used = {plain(name) for _, claimed in found for name in claimed.claim.columns}
    for option in ("id", "source", "target"):
        named = getattr(options, option)
        if named is not None and plain(named) not in used:
            raise InputError(
                f"no file has the column '{named}', which was named as {option}",
                place=Place(", ".join(claimed.file.name for _, claimed in found)[:80]),
                hint=Hint("columns"),
            )


def require_understood(options: ReadingOptions, parsed: Sequence[ParsedFile]) -> None:
    """Refuse a condition that fits no table, or both kinds; and a threshold for no distance."""
    held = {each for file in parsed for each in file.conditions}
    for each in options.filters:
        kinds = sorted(filter_.kind or "" for filter_ in held if _same(each, filter_))
        if not kinds and each.kind is None:
            raise ParameterError(
                "where", f"no file has the column '{each.column}'",
                hint=Hint("columns"),
            )  # fmt: skip
        if len(kinds) > 1 and each.kind is None:
            raise ParameterError(
                "where", f"people and links both have the column '{each.column}'",
                hint=f'Say "nodes:{each.text}" or "edges:{each.text}".',
            )  # fmt: skip
    linked = [file.report.name for file in parsed if file.edges]
    limited = options.threshold is not None or bare(options.distance or "") not in (
        "",
        NO_DISTANCE,
    )
    if limited and linked and not any(file.threshold for file in parsed):
        raise ParameterError(
            "max_distance", f"no list of links has a column of distances: {listed(linked)}",
            hint=Hint("name-distance"),
        )  # fmt: skip


def labelled(
    options: ReadingOptions, by_format: Mapping[str, ReadingOptions], nodes: Sequence[Table]
) -> tuple[list[Table], list[Note]]:
    """The tables of people, each with the columns of all groups; and which files lack one.

    Refuses a column that no list of people has. Where files are said to have no labels of a
    group, its column is empty.
    """
    named: dict[str, str] = {}
    for each in (options, *by_format.values()):
        named = each.group_columns | named
    notes = []
    for group, column in named.items() if nodes else ():
        lacking = [each.source for each in nodes if column_of(group) not in each.frame.columns]
        if len(lacking) == len(nodes) and column != NO_LABELS:
            raise unlabelled(group, column, lacking)
        notes += [
            Note(f"{name} says nothing about {group}: it has no column '{column}'")
            for name in dict.fromkeys(lacking)
            if column != NO_LABELS
        ]
    return [_with_columns(each, named) for each in nodes], notes


def unlabelled(group: str, column: str, lacking: Iterable[str]) -> InputError:
    """The refusal of lists of people none of which has the column of a group."""
    return InputError(
        f"no list of people has the column '{column}', which was named for '{group}'",
        place=Place(", ".join(dict.fromkeys(lacking))[:80]),
        hint=Hint("columns"),
    )


def _with_columns(table: Table, groups: Iterable[str]) -> Table:
    import polars as pl

    missing = [column_of(each) for each in groups if column_of(each) not in table.frame.columns]
    empty = [pl.lit(None, dtype=pl.String).alias(name) for name in missing]
    return replace(table, frame=table.frame.with_columns(empty)) if empty else table


def _same(one: Filter, other: Filter) -> bool:
    return (one.column, one.comparison, one.value) == (other.column, other.comparison, other.value)


def understood(parsed: Sequence[ParsedFile]) -> Mapping[str, Mapping[str, Any]]:
    """By format, the conditions for their kind of table, and thresholds with their unit."""
    found: dict[str, dict[str, Any]] = {}
    for file in parsed:
        own = found.setdefault(file.report.format, {})
        if file.conditions:
            texts = {each.text for each in file.conditions} | set(own.get("where", ()))
            own["where"] = sorted(texts)
        if file.threshold is not None:
            own["max_distance"] = str(file.threshold)
    return found


def without_links_of_left_out(
    parsed: Sequence[ParsedFile], nodes: Sequence[Table], edges: Sequence[Table]
) -> tuple[list[Table], list[Note]]:
    """The links without those of people that a condition left out, and how many these are.

    Somebody who is also listed in a row that meets the conditions is not left out.
    """
    left_out = [table for file in parsed for table in file.left_out]
    if not left_out:
        return list(edges), []
    gone = _texts(left_out, "node")
    gone = gone.filter(~gone.is_in(_texts(nodes, "node").implode())).drop_nulls().implode()
    remaining, count = [], 0
    for table in edges:
        theirs = _texts([table], "source").is_in(gone) | _texts([table], "target").is_in(gone)
        theirs = theirs.fill_null(False)  # who is not named is left to the intake
        count += int(theirs.sum())
        remaining.append(table.kept(~theirs.to_numpy()) if theirs.any() else table)
    rule = "links left out, of people who do not meet the conditions"
    return remaining, [Note.of_rows(rule, count)] if count else []


def _texts(tables: Sequence[Table], column: str) -> pl.Series:
    """The ids of some tables as the study will spell them; what is no id is nobody's."""
    import polars as pl

    found = [_spelled(table, column) for table in tables]
    return pl.concat(found) if found else pl.Series(dtype=pl.String)


def _spelled(table: Table, column: str) -> pl.Series:
    import polars as pl

    ids = table.frame[column]
    whole = ids.cast(pl.Int64, strict=False) if ids.dtype.is_float() else ids
    return spelled_alike(whole.cast(pl.String)).str.strip_chars()
