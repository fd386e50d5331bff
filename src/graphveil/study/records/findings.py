"""Findings: the report to a steward about records before they are stored; all of it is private.

A row that breaks a rule is set aside by what its own people's records say, and everybody else's go
in. Where that happens to more than a tenth of the rows, or nothing is left, somebody should look
first: the files may be read in a wrong way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from graphveil.deferred import pl
from graphveil.errors import EngineError, InputError, Place, UnconfirmedError
from graphveil.graph.groups import SHOWN_LABELS
from graphveil.graph.intake.records import IntakeReport, counted
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.hints import Hint

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.groups import Unlisted
    from graphveil.graph.intake.appending import LeftOut
    from graphveil.graph.intake.records import Records
    from graphveil.graph.sequence import GraphSequence
    from graphveil.study.backends import Stored
    from graphveil.study.promise import Promise

PRIVATE = "PRIVATE: true counts and rows of your records. For the data holder only."
_SHOWN = 5  # rows that a line names
_TAKEN = (
    "nodes_added", "edges_added", "known_nodes", "known_edges", "repeated_nodes", "repeated_edges",
    "self_links",
)  # fmt: skip
MOST_TRIED = 2_000_000  # links, beyond which trying limits out would take longer than adding
MOST_SET_ASIDE = Fraction(1, 10)  # of the rows; beyond that somebody has to look


@dataclass(frozen=True, eq=False)
class Findings:
    """The report to the steward about a batch; all of it is private, so `repr` shows nothing.

    Attributes:
        intake: how many records met each rule.
        vanished_nodes: known nodes that a complete set of files no longer has.
        vanished_edges: known edges that it no longer has.
        alike_ids: ids that look like another one, in the batch or before, and are other people.
        keeps_bound: whether everybody, counted with all waiting records, keeps the bound.
        people_beyond: how many do not, where the study goes on and they lose more than promised.
        details: which records were re-dated or have vanished, for the steward to look into.
        skipped: the rows that break a rule and were set aside, rule by rule.
        awaiting: how many links, of these and earlier records, name somebody who is not known yet.
        given: how many rows of nodes and of edges there were.
        uncounted: by the limit of a promise or a projection, as people write it, how many links
            are not counted under it; of all that are known. Nothing while the study is a draft.
        links: how many links are known in all.
        unlisted: what rows say that is not on the list of a group, so that it counts as other.
        first: whether nobody was known before, so that the lists can still be mended.
    """

    intake: IntakeReport = field(repr=False)
    vanished_nodes: int = field(repr=False)
    vanished_edges: int = field(repr=False)
    alike_ids: int = field(repr=False)
    keeps_bound: bool = field(repr=False)
    people_beyond: int = field(repr=False)
    details: pl.DataFrame = field(repr=False)
    skipped: tuple[LeftOut, ...] = field(default=(), repr=False)
    awaiting: int = field(default=0, repr=False)
    given: tuple[int, int] | None = field(default=None, repr=False)
    uncounted: Mapping[str, int] = field(default_factory=dict, repr=False)
    links: int = field(default=0, repr=False)
    unlisted: tuple[Unlisted, ...] = field(default=(), repr=False)
    first: bool = field(default=False, repr=False)

    def lines(self) -> list[str]:
        """One sentence per rule that was met."""
        vanished = {
            "known nodes no longer listed: kept": self.vanished_nodes,
            "known edges no longer listed: kept": self.vanished_edges,
        }
        lines = self.intake.lines([counted(n, things) for things, n in vanished.items() if n])
        if self.alike_ids:
            rule = "ids looking like another one, as Ann and ann: different people"
            lines.append(counted(self.alike_ids, rule))
        for limit, dropped in self.uncounted.items():
            if dropped:
                lines.append(
                    f"NOTE: {dropped:,} of {self.links:,} links will not be counted (at most "
                    f"{limit} per person)"
                )
        if self.people_beyond:
            lines.append(
                f"WARNING: people linked to more people with many links than the study promises: "
                f"{self.people_beyond:,}; the study goes on, and they lose more privacy, as its "
                "card says"
            )
        elif not self.keeps_bound:
            lines.append(
                "WARNING: somebody has more links than the study promises; the step in which "
                "this happens will be refused"
            )
        for group, rows, texts in self.unlisted:
            more = ", …" if len(texts) == SHOWN_LABELS else ""
            rule = f"rows whose {group} is not on its list: counted as other"
            shown = ", ".join(repr(text) for text, _ in texts)
            lines.append(f"{counted(rows, rule)} ({shown}{more})")
        if self.awaiting:
            rule = "edges to somebody who is not known yet: they wait until that person comes"
            lines.append(counted(self.awaiting, rule))
        seen = Counter((each.kind, each.rule) for each in self.skipped)
        twice = {rule for rule, columns in seen.items() if columns > 1}
        return [*lines, *(_said(each, (each.kind, each.rule) in twice) for each in self.skipped)]

    @property
    def doubt(self) -> str:
        """Why somebody should look at the records first; nothing if there is no reason to.

        It says no count, and nothing that a row says.
        """
        if self.given is None:
            return ""
        for kind, rows in zip(("nodes", "edges"), self.given, strict=True):
            aside = [each for each in self.skipped if each.kind == kind]
            if MOST_SET_ASIDE * rows < sum(map(len, aside)):
                worst = max(aside, key=len)
                place = worst.table.place(0, worst.column)
                most = f"more than a tenth of the rows of {kind} would be set aside, as"
                return Hint.joined(f"{most} {place}: {worst.rule}.", worst.hint)
        for group, rows, _ in self.unlisted if self.first else ():
            if MOST_SET_ASIDE * self.given[0] < rows:
                many = f"more than a tenth of the rows of nodes have a {group} that is not on its"
                hint = Hint("map-labels", group=group)
                return Hint.joined(f"{many} list, and would count as other.", hint)
        taken = sum(getattr(self.intake, name) for name in _TAKEN)
        return "" if taken else "nothing would be added: the records hold nobody."


def _said(left_out: LeftOut, by_column: bool) -> str:
    """What was set aside or waits, and why, with the first few rows, if these have numbers."""
    from graphveil.graph.intake.links import UNKNOWN_END

    count = len(left_out)
    places = [left_out.table.place(row, left_out.column) for row in range(min(count, _SHOWN))]
    more = ", …" if count > _SHOWN else ""
    named = [each.source + ("" if each.row is None else f" row {each.row}") for each in places]
    aside = counted(count, f"rows of {left_out.kind}")
    seen = f", by the column '{left_out.column}'" if by_column else ""
    waits = "waiting" if left_out.rule == UNKNOWN_END else "set aside"
    return f"{aside} {waits}{seen}: {left_out.rule} ({', '.join(dict.fromkeys(named))}{more})"


def no_details() -> pl.DataFrame:
    """What there is to look into: nothing, in the form that everything else takes."""
    return pl.DataFrame(schema=dict.fromkeys(("finding", "node", "was", "now"), pl.String))


def found_out(finding: str, nodes: pl.DataFrame) -> pl.DataFrame:
    """Some nodes in that form, and what they were and are, if there is anything to say."""
    columns = [name if name in nodes.columns else pl.lit("").alias(name) for name in ("was", "now")]
    return nodes.select(pl.lit(finding).alias("finding"), pl.col("node").cast(pl.String), *columns)


def bound_kept(
    promise: Promise, engine: Engine, grown: GraphSequence, after: FinalDegrees | None = None
) -> tuple[bool, int]:
    """Whether everybody keeps the bound of a study, and how many lose more than it promises.

    Args:
        promise: of the study.
        engine: that counts the graph.
        grown: everything that is known.
        after: the degrees at an earlier state of it.
    """
    bound = promise.degree_bound
    if bound.checked:
        return engine.keeps_bound(grown, bound, after=after), 0
    if all(each.projection is not None for each in promise.series):  # then nobody loses more
        return True, 0
    beyond = engine.people_beyond(grown, bound, after=after)
    return not beyond, beyond


def uncounted(stored: Stored, engine: Engine, grown: GraphSequence) -> dict[str, int]:
    """How many links each limit of the study leaves out; nothing of a draft or a large network.

    A limit that somebody chose by looking at this would depend on the data, so a draft is silent.
    An engine is not asked for limits by which it cannot count.
    """
    promise, links = stored.promise, int(np.sum(grown.edges))
    if not stored.ledger.is_open or links > MOST_TRIED:
        return {}
    bound, seen = promise.degree_bound, {}
    for limit in {each.threshold() for each in promise.series}:
        if isinstance(limit, DegreeBound | InOutBound):
            with suppress(EngineError):
                seen[limit.brief] = engine.project(grown, limit)
    if isinstance(bound, HubBound) and any(bound.hubs):
        seen[bound.within.brief] = engine.counted_part(grown, bound)
    return {name: links - int(np.sum(seen[name].edges)) for name in sorted(seen)}


def require_listed(records: Records) -> None:
    """Refuse people who are there only because of their links.

    Removing one person would also remove the people who are linked to nobody else, or move them
    to another step: the change by one person would exceed every sensitivity used here.
    """
    if records.by_links:
        raise InputError(
            "this lists only people who have links: without one person, others would vanish",
            place=Place(", ".join(records.by_links)),
            hint=Hint("all-listed"),
        )


def require_confirmed(findings: Findings) -> None:
    """Refuse records if too many rows would be set aside, before anything is opened."""
    if findings.doubt:
        rule = max(findings.skipped, key=len).rule if findings.skipped else ""
        problem = Hint.joined(findings.doubt, "Nothing was changed.")
        raise UnconfirmedError(problem, rule, hint=Hint("confirm"))
