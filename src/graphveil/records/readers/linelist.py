"""Outbreak line lists: a row for each case, with a column that names who infected it.

Each row is a node, and an edge from every infector in it to the case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table
from graphveil.records.columns import INFECTORS, are_links, bare, requested_names
from graphveil.records.dates import MISSING_WORDS, undated
from graphveil.records.delimited import DelimitedTable, unquoted
from graphveil.records.format import Claim, Claimed, Format, Note, ParsedFile, file_report, register
from graphveil.records.options import ReadingOptions
from graphveil.records.selection import Selection, dated_by, edge_time_columns, node_time_columns
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import TableFile, claimed_table, table_file

# Without blanks and marks, and of several the first: a person is what privacy protects, and a
# bare id may be the number of the row.
_IDS = (
    "patientid", "personid", "individualid", "subjectid", "participantid", "caseid", "id",
    "nodeid", "node", "patient", "person", "case",
)  # fmt: skip
_BETWEEN = ",;"


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted)
    if table is None:
        return None
    names = table.names
    if requested_names(names, options.source, options.target) or (
        are_links(names) and not insisted
    ):
        return None
    case = _of(names, options.id, _IDS)
    infector = _of(names, options.source, INFECTORS)
    if case is None or infector is None or case == infector:
        return None
    return Claim("network", f"{table.kind} with {case} and {infector}", (case, infector))


def _of(names: Sequence[str], named: str | None, known: Sequence[str]) -> str | None:
    """The column that the steward names, or else the first that is known."""
    if named is not None:
        found = requested_names(names, named)
        return found[0] if found else None
    theirs = {bare(name): name for name in reversed(names)}
    return next((theirs[name] for name in known if name in theirs), None)


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_part(each, options) for each in files]


def _part(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    source = table_file(claimed.file)
    _refuse_two_of(claimed.claim.columns, source)
    times, no_time = node_time_columns(source, options.time)
    edge_times, no_edge_time = edge_time_columns(source, options.edge_time)
    people = Selection.of(source.names, "nodes", options, claimed.file.name, times)
    cases, repaired = _cases(claimed, source, people, edge_times, options)
    applied = people.applied(_nodes(cases), options)
    nodes = applied.table if times else undated(applied.table)
    edges, linking = _edges(cases, Selection("edges", edge_times), options)
    dated = dated_by(times, options.time or ", ".join(times) or None)
    notes = [*repaired, *dated, *applied.notes, *linking]
    return ParsedFile(
        file_report(claimed, LINELIST.name, nodes=[nodes], edges=[edges], notes=notes),
        nodes=(nodes,),
        edges=(edges,),
        times=times,
        without_time=no_time,
        without_edge_time=no_edge_time,
        left_out=() if applied.left_out is None else (applied.left_out,),
        conditions=people.used,
    )


def _cases(
    claimed: Claimed,
    source: TableFile,
    people: Selection,
    edge_times: tuple[str, ...],
    options: ReadingOptions,
) -> tuple[Table, list[Note]]:
    """The columns that count, as text: case, infector, dates, and what people are judged by."""
    names = dict(zip(("case", "infector"), claimed.claim.columns, strict=True)) | people.columns
    names |= {f"edge {ours}": theirs for ours, theirs in _times(edge_times).items()}
    most = options.table_bytes
    table = source.read({**names, "first": source.names[0]}, most)
    if not isinstance(source, DelimitedTable):
        return replace(table, frame=table.frame.select(names.keys()), names=names), []
    frame = table.frame.cast(pl.String)
    wanted = replace(table, frame=frame.select(names.keys()), names=names)
    return unquoted(wanted, frame["first"], source, most)


def _times(columns: tuple[str, ...]) -> dict[str, str]:
    return Selection("edges", columns).columns


def _refuse_two_of(used: Sequence[str], source: TableFile) -> None:
    """Refuse a list with two columns that could be the id, or the infector."""
    names = [bare(name) for name in source.names]
    for name in used:
        if names.count(bare(name)) > 1:
            raise InputError(
                "two columns have this name; case, blanks and marks do not count",
                place=Place(source.file.name, 1, name),
                hint="Rename or remove one of them.",
            )


def _nodes(cases: Table) -> Table:
    """The people, with what they are dated and judged by."""
    ours = {name: "node" if name == "case" else name for name in cases.frame.columns}
    names = {"node" if name == "case" else name: theirs for name, theirs in cases.names.items()}
    return replace(cases, frame=cases.frame.rename(ours), names=names)


def _edges(cases: Table, chosen: Selection, options: ReadingOptions) -> tuple[Table, list[Note]]:
    """One edge for each infector of a row, in the row's place."""
    rows = cases.frame.select(
        pl.Series("row", cases.row_numbers()),
        _infectors(cases.frame).alias("source"),
        pl.col("case").alias("target"),
        *(pl.col(f"edge {ours}").alias(ours) for ours in chosen.columns),
    )
    notes = _several(rows)
    rows = rows.explode("source").drop_nulls("source")
    names = {"source": cases.names["infector"], "target": cases.names["case"], **chosen.columns}
    table = Table(rows.drop("row"), cases.source, names=names, numbers=rows["row"].to_numpy())
    applied = chosen.applied(table, options)
    return applied.table, [*notes, *applied.notes]


def _infectors(frame: pl.DataFrame) -> pl.Series:
    """The ids in each cell; blanks do not separate them, since ids may hold blanks."""
    one = rf"[^{_BETWEEN}]+"
    each = pl.element().str.strip_chars()
    named = ~each.str.to_lowercase().is_in(MISSING_WORDS)
    return frame["infector"].cast(pl.String).str.extract_all(one).list.eval(each.filter(named))


def _several(rows: pl.DataFrame) -> list[Note]:
    found = rows.filter(pl.col("source").list.len() > 1)["row"]
    rule = "rows with several infectors: an edge from each"
    return [Note.of_rows(rule, len(found), found)] if len(found) else []


LINELIST = register(
    Format(
        name="linelist",
        summary="outbreak line list",
        looks="CSV: a row for each case, with an id such as case_id, a column such as infected_by "
        "and a date column that you name",
        claims=_claims,
        read=_read,
    )
)
