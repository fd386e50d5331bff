"""How each way in writes the records of a case, line by line, and whose each line is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.sax.saxutils import quoteattr

from removal_cases import Case, Node

Owners = dict[tuple[str, int], set[str]]  # names in a row of a file


@dataclass
class Written:
    """Files, and whom each row of them names."""

    files: dict[str, str] = field(default_factory=dict)
    owners: Owners = field(default_factory=dict)

    def lines(self, name: str, lines: Sequence[tuple[str, Sequence[str]]]) -> None:
        """One more file, line by line."""
        self.files[name] = "".join(f"{line}\n" for line, _ in lines)
        for number, (_, names) in enumerate(lines, start=1):
            self.own(name, number, names)

    def own(self, name: str, row: int, names: Sequence[str]) -> None:
        """Note whom a row names."""
        self.owners.setdefault((name, row), set()).update(names)


def _row(cells: Sequence[str], style: str, separator: str) -> str:
    if style == "stray":
        return separator.join(['"' + cells[0], *cells[1:]])
    if style in ("open", "close"):
        last = '"' + cells[-1] if style == "open" else cells[-1] + '"'
        return separator.join([*cells[:-1], last])
    if style == "loose":
        first = f'{cells[0][:1]}"{cells[0][1:]}'
        return separator.join([first, *cells[1:]]) + '"'
    if style == "wide":
        cells = [*cells, "more"]
    room = io.StringIO()
    quoting: Any = csv.QUOTE_ALL if style == "quoted" else csv.QUOTE_MINIMAL
    csv.writer(room, delimiter=separator, quoting=quoting, lineterminator="").writerow(cells)
    return room.getvalue()


def _node_list(written: Written, case: Case, name: str, header: str) -> None:
    lines: list[tuple[str, Sequence[str]]] = [(header.replace(",", case.separator), ())]
    for node in case.nodes:
        if node.style == "blank":
            lines.append((node.name, ()))
        else:
            row = _row([node.name, node.time, node.mark], node.style, case.separator)
            lines.append((row, (node.name,)))
    written.lines(name, lines)


def _link_list(written: Written, case: Case, name: str, header: str) -> None:
    lines: list[tuple[str, Sequence[str]]] = [(header.replace(",", case.separator), ())]
    for each in case.links:
        row = _row([each.source, each.target, each.time], each.style, case.separator)
        lines.append((row, (each.source, each.target)))
    written.lines(name, lines)


def _pair(case: Case) -> Written:
    written = Written()
    _node_list(written, case, "nodes.csv", "node,time,more")
    _link_list(written, case, "edges.csv", "source,target,time")
    return written


def _microbetrace(case: Case) -> Written:
    written = Written()
    _node_list(written, case, "nodes.csv", "ID,when,more")
    _link_list(written, case, "links.csv", "Source,Target,time")
    return written


def _contacts(case: Case) -> Written:
    written = Written()
    _node_list(written, case, "nodes.csv", "case_id,when,more")
    above: list[tuple[str, Sequence[str]]] = [("A title", ()), ("", ())] if case.commented else []
    lines = [*above, ("from,to,time,distance".replace(",", case.separator), ())]
    for each in case.links:
        cells = [each.source, each.target, each.time, each.distance]
        row = _row(cells, each.style, case.separator)
        lines.append((row, (each.source, each.target)))
    written.lines("links.csv", lines)
    return written


def _sheets(case: Case) -> Written:
    """The same, for a workbook."""
    return _without_quotes(case, "book.xlsx#{}", 0)


def _tables(case: Case, held_in: str) -> Written:
    """The same, for a container of tables, whose first row is no header."""
    return _without_quotes(replace(case, commented=False), held_in, 1)


def _without_quotes(case: Case, held_in: str, header: int) -> Written:
    nodes = tuple(n if n.style == "blank" else replace(n, style="plain") for n in case.nodes)
    links = tuple(replace(each, style="plain") for each in case.links)
    written = _contacts(replace(case, separator=",", nodes=nodes, links=links))
    owners = {
        (held_in.format(name.removesuffix(".csv")), row - header): names
        for (name, row), names in written.owners.items()
    }
    return Written(written.files, owners)


def _nodes_beside(case: Case, written: Written) -> Written:
    plain = replace(case, separator=",")
    _node_list(written, plain, "nodes.csv", "node,time,more")
    return written


def _linelist(case: Case) -> Written:
    written = Written()
    lines: list[tuple[str, Sequence[str]]] = [("case_id,when,infected_by,more", ())]
    used: set[int] = set()
    for node in case.nodes:
        if node.style == "blank":
            lines.append((node.name, ()))
            continue
        own = [
            (number, each)
            for number, each in enumerate(case.links)
            if number not in used and each.target == node.name
        ]
        used.update(number for number, _ in own)
        infectors = [each.source for _, each in own]
        row = _row([node.name, node.time, "; ".join(infectors), node.mark], node.style, ",")
        lines.append((row, [node.name, *infectors]))
    written.lines("cases.csv", lines)
    return written


def _entry(node: Node) -> dict[str, Any]:
    years = [int(node.time[:4]), 1, 1] if node.time[:4].isdigit() else None
    entry: dict[str, Any] = {"id": node.name}
    if node.style == "DX":
        return {**entry, "patient_attributes": {"DX ": node.time}}
    if node.style == "edi":
        return {**entry, "edi": years, "baseline": years}
    if node.style == "own":
        return {**entry, "dx": node.time, "patient_attributes": {"other": "2001"}}
    if node.style == "extra":
        return {**entry, "edi": years, "Dx": None, "patient_attributes": {"dx": years or "NA"}}
    return {**entry, "patient_attributes": {"dx": node.time, "seen": "2002", "more": node.mark}}


def _json_line(node: Node) -> str:
    text = json.dumps(_entry(node))
    return text[:-1] + ', "id": 5}' if node.style == "twice" else text


def _hivtrace(case: Case) -> Written:
    people = [node for node in case.nodes if node.style != "blank"]
    at: dict[str, int] = {}
    for number, node in enumerate(people):
        at.setdefault(node.name, number)
    known = [each for each in case.links if each.source in at and each.target in at]
    written = Written()
    lines: list[tuple[str, Sequence[str]]] = [('{"Settings": {}, "Nodes": [', ())]
    for number, node in enumerate(people):
        comma = "," if number < len(people) - 1 else ""
        lines.append((_json_line(node) + comma, (node.name,)))
        written.own("results.json", number, (node.name,))
    lines.append(('], "Edges": [', ()))
    for number, each in enumerate(known):
        entry = {
            "source": at[each.source], "target": at[each.target], "met": each.time or None,
            "directed": each.style == "directed", "removed": each.style == "removed",
        }  # fmt: skip
        comma = "," if number < len(known) - 1 else ""
        lines.append((json.dumps(entry) + comma, (each.source, each.target)))
        written.own("results.json", number, (each.source, each.target))
    lines.append(('], "Singletons": []}' if case.listed else '], "Singletons": 4}', ()))
    written.lines("results.json", lines)
    return written


def _compact(case: Case) -> Written:
    written = _hivtrace(replace(case, nodes=_once_keyed(case.nodes)))
    plain = json.loads(written.files["results.json"])
    for section in ("Nodes", "Edges"):
        fields = dict.fromkeys(field for entry in plain[section] for field in entry)
        plain[section] = {
            field: [entry.get(field) for entry in plain[section]]
            for field in dict.fromkeys((*fields, "id"))
        }
    return Written({"results.json": json.dumps(plain)}, written.owners)


def _once_keyed(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(n, style="plain") if n.style == "twice" else n for n in nodes)


def _snap(case: Case) -> Written:
    written = Written()
    above = [("# Undirected graph", ())] if case.commented else []
    edges = [(f"{e.source}\t{e.target}", (e.source, e.target)) for e in case.links]
    written.lines("edges.txt", [*above, *edges])
    says = [("# NodeId Date", ())] if case.commented else []
    # An id with a blank and no date is, in this format, another id with a date.
    listed = [n for n in case.nodes if n.style != "blank" and (n.time or " " not in n.name)]
    dates = [(f"{n.name} {n.time}", (n.name,)) for n in listed]
    written.lines("dates.txt", [*says, *dates])
    return written


def _temporal(case: Case) -> Written:
    written = Written()
    seconds = {"": 1_000_000_000, "2003": 1_050_000_000, "2005": 1_110_000_000}
    above = [("# messages", ())] if case.commented else []
    lines = [
        (f"{e.source} {e.target} {seconds.get(e.time, 1_020_000_000)}", (e.source, e.target))
        for e in case.links
    ]
    written.lines("messages.txt", [*above, *lines])
    return written


def _graphml(case: Case) -> Written:
    keys = '<key id="d0" for="node" attr.name="when"/><key id="d1" for="edge" attr.name="time"/>'
    keys += '<key id="d2" for="node" attr.name="more"/>'
    lines: list[tuple[str, Sequence[str]]] = [
        (f"<graphml>{keys}", ()),
        ('<graph edgedefault="undirected">', ()),
    ]
    for node in case.nodes:
        if node.style == "blank":
            lines.append(("", ()))
            continue
        again = '<data key="d0">2001</data>' if node.style == "twice" else ""
        data = f'<data key="d0">{node.time}</data>{again}<data key="d2">{node.mark}</data>'
        data = "" if node.style == "edi" else data
        lines.append((f"<node id={quoteattr(node.name)}>{data}</node>", (node.name,)))
    for each in case.links:
        mark = ' directed="true"' if each.style == "directed" else ""
        ends = f"source={quoteattr(each.source)} target={quoteattr(each.target)}"
        data = f'<data key="d1">{each.time}</data>' if each.time else ""
        lines.append((f"<edge {ends}{mark}>{data}</edge>", (each.source, each.target)))
    lines.append(("</graph></graphml>", ()))
    written = Written()
    written.lines("graph.graphml", lines)
    return written


def _gexf(case: Case) -> Written:
    keys = '<attribute id="0" title="when"/><attribute id="1" title="more"/>'
    lines: list[tuple[str, Sequence[str]]] = [
        ('<gexf><graph defaultedgetype="undirected">', ()),
        (f'<attributes class="node">{keys}</attributes><nodes>', ()),
    ]
    for node in case.nodes:
        if node.style == "blank":
            lines.append(("", ()))
            continue
        again = '<attvalue for="0" value="2001"/>' if node.style == "twice" else ""
        time = "" if node.style == "edi" else f'<attvalue for="0" value={quoteattr(node.time)}/>'
        data = f'{time}{again if time else ""}<attvalue for="1" value={quoteattr(node.mark)}/>'
        text = f"<node id={quoteattr(node.name)}><attvalues>{data}</attvalues></node>"
        lines.append((text, (node.name,)))
    lines.append(("</nodes><edges>", ()))
    for each in case.links:
        mark = ' type="directed"' if each.style == "directed" else ""
        ends = f"source={quoteattr(each.source)} target={quoteattr(each.target)}"
        start = f' start="{each.time}"' if each.time else ""
        lines.append((f"<edge {ends}{mark}{start}/>", (each.source, each.target)))
    lines.append(("</edges></graph></gexf>", ()))
    written = Written()
    written.lines("graph.gexf", lines)
    return written


def _pajek(case: Case) -> Written:
    """Labels in quotes; an id with a quote cannot be written, and a time is a number."""
    people = [node for node in case.nodes if node.style != "blank" and '"' not in node.name]
    at: dict[str, int] = {}
    lines: list[tuple[str, Sequence[str]]] = [("% a comment", ()), (f"*Vertices {len(people)}", ())]
    for number, node in enumerate(people, start=1):
        at.setdefault(node.name, number)
        time = f" [{node.time[:4]}-*]" if node.time[:4].isdigit() else ""
        label = "" if node.style == "twice" else f' "{node.name}" 0.5 ic Red{time}'
        lines.append((f"{number}{label}", (node.name,)))
    lines.append(("*Arcs" if case.commented else "*Edges", ()))
    for each in case.links:
        if each.source in at and each.target in at:
            time = f" [{each.time}]" if each.time else ""
            text = f"{at[each.source]} {at[each.target]} {each.distance or '1'}{time}"
            lines.append((text, (each.source, each.target)))
    written = Written()
    written.lines("graph.net", lines)
    return written


def _session(case: Case) -> Written:
    people = [node for node in case.nodes if node.style != "blank"]
    written = Written()
    nodes, links = [], []
    for number, node in enumerate(people):
        named = "id" if node.style == "extra" else "_id"
        nodes.append({named: node.name, "when": node.time, "more": node.mark})
        written.own("a.microbetrace", number, (node.name,))
    for number, each in enumerate(case.links):
        whole = {"_id": each.source} if each.style == "directed" else each.source
        told = each.distance if each.style == "quoted" else (each.distance or None)
        links.append({"source": whole, "target": each.target, "distance": told})
        written.own("a.microbetrace", number, (each.source, each.target))
    written.files["a.microbetrace"] = json.dumps({"data": {"nodes": nodes, "links": links}})
    return written


def _godata(case: Case) -> Written:
    """Deleted links are in it, and marked."""
    written = Written()
    _node_list(written, case, "cases.csv", "ID,when,more,Case ID,Date of reporting")
    lines: list[tuple[str, Sequence[str]]] = [
        ("Source.UID,Target.UID,Deleted,time".replace(",", case.separator), ())
    ]
    for each in case.links:
        cells = [each.source, each.target, str(each.style == "removed").lower(), each.time]
        lines.append((_row(cells, each.style, case.separator), (each.source, each.target)))
    written.lines("relationships.csv", lines)
    return written


STEADY = Node("steady", "2002")  # in every matrix: one of nobody would not be recognised


def _matrix_and_nodes(case: Case) -> Written:
    case = replace(case, nodes=(*case.nodes, STEADY))
    return _nodes_beside(case, _matrix(case))


def _matrix(case: Case) -> Written:
    """A row and a column for each person, in one order; what is not measured is empty."""
    people = [node for node in case.nodes if node.style != "blank"]
    near = {(each.source, each.target): each.distance for each in reversed(case.links)}
    written, separator = Written(), case.separator
    lines: list[tuple[str, Sequence[str]]] = [
        (_row(["", *(node.name for node in people)], "plain", separator), ())
    ]
    for node in people:
        cells = [near.get((node.name, other.name), "") for other in people]
        named = [other.name for other, cell in zip(people, cells, strict=True) if cell]
        lines.append((_row([node.name, *cells], node.style, separator), (node.name, *named)))
    written.lines("matrix.csv", lines)
    return written


def _matrix_sheet(case: Case) -> Written:
    """The same in a workbook, beside a list of the people."""
    people = (replace(n, style="plain") for n in case.nodes if n.style != "blank")
    plain = replace(case, nodes=(*people, STEADY), separator=",")
    written = _matrix(plain)
    _node_list(written, plain, "nodes.csv", "case_id,time,more")
    owners = {(f"book.xlsx#{name.removesuffix('.csv')}", row): names
              for (name, row), names in written.owners.items()}  # fmt: skip
    return Written(written.files, owners)


WRITERS: dict[str, Callable[[Case], Written]] = {
    "pair": _pair,
    "hivtrace": _hivtrace,
    "hivtrace compact": _compact,
    "hivtrace and nodes": lambda case: _nodes_beside(case, _hivtrace(case)),
    "microbetrace": _microbetrace,
    "contacts": _contacts,
    "linelist": _linelist,
    "linelist and nodes": lambda case: _nodes_beside(case, _linelist(case)),
    "snap": _snap,
    "snap-temporal": _temporal,
    "snap-temporal and nodes": lambda case: _nodes_beside(case, _temporal(case)),
    "graphml": _graphml,
    "gexf": _gexf,
    "pajek": _pajek,
    "microbetrace-session": _session,
    "godata": _godata,
    "matrix and nodes": _matrix_and_nodes,
    "matrix in a workbook": _matrix_sheet,
    "workbook": _sheets,
    "database": lambda case: _tables(case, "sqlite:cases.db#{}"),
    "duckdb": lambda case: _tables(case, "duckdb:cases.db#{}"),
    "r": lambda case: _tables(case, "cases.rds#{}"),
    "parquet": lambda case: _tables(case, "{}.parquet"),
}
ONE_FORMAT = {"pair": "pair", "snap": "snap", "snap-temporal": "snap-temporal"}
