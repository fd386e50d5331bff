"""What every series had counted at a sealed step, and where its counting stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graphveil.engines.counts import ExactCounts, extent
from graphveil.graph.projection import EdgeLists, Projected
from graphveil.graph.sequence import LateEdges
from graphveil.series.counting import SeriesCounts, View, ViewCounts, by_view
from graphveil.study.records.local.kept.arena import Values
from graphveil.study.records.local.kept.graph import KeptGraph, column, lists_of

if TYPE_CHECKING:
    from graphveil.engines.engine import Keeping
    from graphveil.graph.sequence import GraphSequence
    from graphveil.series.terms import SeriesTerms


def columns_of(counts: SeriesCounts) -> dict[str, Values]:
    """The edges of every projection that has left some out, by name."""
    return {
        f"{view_key(view)} {name}": values
        for view, each in counts.views.items()
        if isinstance(each.seen, Projected) and each.seen.lists is not None
        for name, values in lists_of(each.seen.lists).items()
    }


def beside(counts: SeriesCounts, keeping: Keeping) -> dict[str, Any]:
    """What does not lie in the arena."""
    return {view_key(view): _view(each, keeping) for view, each in counts.views.items()}


def view_key(view: View) -> str:
    """What a view is called in files."""
    projects, bound = view
    return f"{'projected to' if projects else 'under'} {bound!r}"


def _view(view: ViewCounts, keeping: Keeping) -> dict[str, Any]:
    answers = {repr(tally): keeping.packed(answer) for tally, answer in view.counts.answers.items()}
    if not isinstance(view.seen, Projected):
        return {"answers": answers}
    seen = view.seen
    late = None if seen.lists is None else seen.late.offsets
    return {"answers": answers, "used": list(seen.used), "taken": seen.taken, "late_offsets": late}


def read_counts(
    kept: KeptGraph, data: Mapping[str, Any], series: Iterable[SeriesTerms], keeping: Keeping
) -> SeriesCounts:
    """What the series had counted; what was not counted for them then is not there."""
    views = {}
    for view, members in by_view(series).items():
        found = data.get(view_key(view))
        if found is not None:
            seen = _seen(kept, view, found)
            views[view] = ViewCounts(seen, _counts(seen, view, members, found, keeping))
    return SeriesCounts(kept.sequence.steps, views)


def _counts(
    seen: GraphSequence,
    view: View,
    members: Iterable[SeriesTerms],
    data: Mapping[str, Any],
    keeping: Keeping,
) -> ExactCounts:
    wanted = {terms.statistic: terms.statistic.tally() for terms in members}
    known = {
        statistic: tally for statistic, tally in wanted.items() if repr(tally) in data["answers"]
    }
    answers = {
        tally: keeping.unpacked(tally, data["answers"][repr(tally)]) for tally in known.values()
    }
    return ExactCounts(tuple(known), extent(seen, seen.steps), answers, view[1].counted)


def _seen(kept: KeptGraph, view: View, data: Mapping[str, Any]) -> GraphSequence:
    """What the series looked at: the graph, or its projection."""
    graph = kept.sequence
    if "used" not in data:
        return graph
    values: dict[str, Any] = {**vars(graph), "growth": None}
    values |= {"used": tuple(data["used"]), "taken": data["taken"]}
    if data["late_offsets"] is None:
        return Projected(**values)
    columns = {name: column(kept.arena, f"{view_key(view)} {name}") for name in EdgeLists._fields}
    lists = EdgeLists(**columns)
    late = LateEdges(
        data["late_offsets"].copy(), lists.late_newer.values, lists.late_entries.values
    )
    edges = {"offsets": lists.offsets.values, "entries": lists.entries.values, "late": late}
    return Projected(**values | edges, lists=lists)
