"""Findings: the report to a steward about records before they are stored; all of it is private.

A row that breaks a rule is set aside by what its own people's records say, and everybody else's go
in. Where that happens to more than a tenth of the rows, or nothing is left, somebody should look
first: the files may be read in a wrong way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place, UnconfirmedError
from graphveil.graph.intake.records import IntakeReport, counted
from graphveil.hints import Hint

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.intake.filtering import LeftOut
    from graphveil.graph.intake.records import Records

PRIVATE = "PRIVATE: true counts and rows of your records. For the data holder only."
_SHOWN = 5  # rows that a line names
_TAKEN = (
    "nodes_added", "edges_added", "known_nodes", "known_edges", "repeated_nodes", "repeated_edges",
    "self_links",
)  # fmt: skip
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
        if self.awaiting:
            rule = "edges to somebody who is not known yet: they wait until that person comes"
            lines.append(counted(self.awaiting, rule))
        return [*lines, *(_said(each) for each in self.skipped)]

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
        taken = sum(getattr(self.intake, name) for name in _TAKEN)
        return "" if taken else "nothing would be added: the records hold nobody."


def _said(left_out: LeftOut) -> str:
    """What was set aside and why, with the first few rows."""
    count = len(left_out)
    places = [left_out.table.place(row, left_out.column) for row in range(min(count, _SHOWN))]
    more = ", …" if count > _SHOWN else ""
    rows = ", ".join(f"{place.source} row {place.row}" for place in places)
    aside = counted(count, f"rows of {left_out.kind}")
    return f"{aside} set aside: {left_out.rule} ({rows}{more})"


def no_details() -> pl.DataFrame:
    """What there is to look into: nothing, in the form that everything else takes."""
    import polars as pl

    return pl.DataFrame(schema=dict.fromkeys(("finding", "node", "was", "now"), pl.String))


def found_out(finding: str, nodes: pl.DataFrame) -> pl.DataFrame:
    """Some nodes in that form, and what they were and are, if there is anything to say."""
    import polars as pl

    columns = [name if name in nodes.columns else pl.lit("").alias(name) for name in ("was", "now")]
    return nodes.select(pl.lit(finding).alias("finding"), pl.col("node").cast(pl.String), *columns)


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
