"""Adding: records are checked against all that is there, reported on, and kept as a batch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.intake.after_end import until_end
from graphveil.graph.intake.appending import Intake, append
from graphveil.graph.intake.arrivals import known_nodes, steps_of_labels
from graphveil.graph.intake.identity import look_alikes
from graphveil.graph.intake.report import IntakeReport, counted
from graphveil.graph.intake.resolving import Resolved, resolve, stated_steps
from graphveil.graph.intake.rules import RecordRules, Undated
from graphveil.graph.intake.sifting import LeftOut, Sifted, listed, sifted
from graphveil.graph.intake.undated import dated_only
from graphveil.graph.sequence import UNSTATED, GraphSequence
from graphveil.study.ledger import NOTHING_SAID, Ledger, ReadAs
from graphveil.study.public.facts import Event
from graphveil.study.records import growing
from graphveil.study.records.batches import Pending
from graphveil.study.records.private_tables import write_list, write_table
from graphveil.study.storage.transaction import Transaction

if TYPE_CHECKING:
    import polars as pl

    from graphveil.engines import Engine
    from graphveil.graph.intake.records import Records
    from graphveil.study.promise.promise import Promise
    from graphveil.study.storage.folder import Folder


PRIVATE = "PRIVATE: true counts and rows of your records. For the data holder only."
_SHOWN = 5  # rows that a line tells


@dataclass(frozen=True, eq=False)
class Findings:
    """What the steward learns about a batch; private, all of it, so `repr` shows nothing.

    Attributes:
        intake: how many records met each rule.
        vanished_nodes: known nodes that a complete set of files no longer has.
        vanished_edges: known edges that it no longer has.
        alike_ids: ids that look like another one, in the batch or before, and are other people.
        keeps_bound: whether everybody, counted with all waiting records, keeps the bound.
        people_beyond: how many do not, where the study goes on and they lose more than promised.
        details: which records were re-dated or have vanished, for the steward to look into.
        skipped: the rows that break a rule and were left out, rule by rule.
    """

    intake: IntakeReport = field(repr=False)
    vanished_nodes: int = field(repr=False)
    vanished_edges: int = field(repr=False)
    alike_ids: int = field(repr=False)
    keeps_bound: bool = field(repr=False)
    people_beyond: int = field(repr=False)
    details: pl.DataFrame = field(repr=False)
    skipped: tuple[LeftOut, ...] = field(default=(), repr=False)

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
        return [*lines, *(_said(each) for each in self.skipped)]


def _said(left_out: LeftOut) -> str:
    """What was left out and why, with the first few rows."""
    count = len(left_out)
    places = [left_out.table.place(row, left_out.column) for row in range(min(count, _SHOWN))]
    more = ", …" if count > _SHOWN else ""
    rows = ", ".join(f"{place.source} row {place.row}" for place in places)
    return f"{counted(count, f'rows of {left_out.kind}')} skipped: {left_out.rule} ({rows}{more})"


def _rules(rules: RecordRules, undated: Undated | Literal["drop"] | None) -> RecordRules:
    """The rules of a study for one batch: nobody joins the first open step unless it says so."""
    if undated == "first" and rules.undated != "first":
        raise ParameterError(
            "undated", "cannot be 'first': the study says that people without a date are refused",
            hint="Say 'drop' to leave them out; `graphveil new --undated first` is a new study.",
        )  # fmt: skip
    chosen: Undated = "refuse" if undated == "refuse" else "first"
    return rules if undated is None else replace(rules, undated=chosen)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A batch that could be added: what would be kept, and what there is to say about it."""

    pending: Pending
    last_step: int = field(repr=False)
    findings: Findings


def candidate(
    folder: Folder,
    ledger: Ledger,
    promise: Promise,
    records: Records,
    *,
    complete: bool,
    skip_bad: bool = False,
    ignore_after_end: bool = False,
    undated: Undated | Literal["drop"] | None = None,
    engine: Engine,
) -> Candidate:
    """Check records against everything that is sealed or waiting; changes nothing.

    Args:
        folder: where sealed and waiting records lie.
        ledger: which of them count.
        promise: the rules.
        records: as a reader found them.
        complete: whether they are all there is to know, so that what they lack has vanished.
        skip_bad: whether rows that break a rule are left out; else the first refuses all.
        ignore_after_end: whether records of after the last step are ignored; else refused.
        undated: what becomes of people without a date; None leaves it to the study's rule.
        engine: where degrees are checked.
    """
    import polars as pl

    closed = growing.sealed(folder, ledger, promise, engine)
    sealed, waiting = closed.graph, growing.waiting(folder, ledger, closed).resolved()
    # A person's later sequence, in a file without the first, has a date of its own.
    only_earlier = promise.records.merges_ids and not complete
    calendar = promise.calendar

    rules = _rules(promise.records, undated)

    def is_known(ids: pl.Series) -> NDArray[np.bool_]:
        return known_nodes(sealed, waiting.nodes, ids).rows

    def taken(records: Records) -> tuple[Resolved, Intake]:
        given = resolve(records, calendar, rules, beyond=ignore_after_end)
        if undated == "drop":
            given = dated_only(given, is_known)
        if ignore_after_end:
            given = until_end(given, calendar.last_step, is_known)
        return given, append(sealed, given, late="join", waiting=waiting, only_earlier=only_earlier)

    found = sifted(records, taken) if skip_bad else Sifted(taken(records))
    given, (grown, report) = found.taken
    mentioned = grown.index.labels(given.nodes.frame["node"])
    details = [_no_details()]
    if report.redated_nodes:
        details.append(_redated(sealed, waiting, given, only_earlier=only_earlier))
    if complete:
        details.append(_vanished(grown, mentioned))
    bound = promise.degree_bound
    cut = all(each.projection is not None for each in promise.series)  # then nobody loses more
    beyond = 0 if bound.checked or cut else engine.people_beyond(grown, bound, after=closed.degrees)
    findings = Findings(
        intake=report,
        vanished_nodes=grown.nodes - report.nodes_added - report.known_nodes if complete else 0,
        vanished_edges=grown.edges - report.edges_added - report.known_edges if complete else 0,
        alike_ids=look_alikes(given.nodes.frame["node"], grown.ids),
        keeps_bound=(
            engine.keeps_bound(grown, bound, after=closed.degrees) if bound.checked else not beyond
        ),
        people_beyond=beyond,
        details=pl.concat(details).sort("finding", "node"),
        skipped=found.left_out,
    )
    last_step = max(_last_step(grown, given, mentioned), sealed.steps)
    return Candidate(Pending.of(given).unknown_to(sealed), last_step, findings)


def require_listed(records: Records) -> None:
    """Refuse people who are there only because of their links.

    Whoever is removed would take along those who are linked to nobody else, or move them to
    another step: the change by one person would be larger than any sensitivity here allows.
    """
    if records.by_links:
        raise InputError(
            "people stand here only through their links: without one person, others would vanish",
            place=Place(", ".join(records.by_links)),
            hint="Add a table node,time beside it (its header alone if all are known). If "
            "HIV-TRACE lists everybody, say --all-listed.",
        )


def keep(
    transaction: Transaction,
    folder: Folder,
    ledger: Ledger,
    batch: Candidate,
    read_as: ReadAs = NOTHING_SAID,
) -> int:
    """Write a batch and enter it; its number."""
    number = ledger.next_batch
    files = {
        "nodes": vars(write_table(folder.batches, f"{number:04}-nodes", batch.pending.nodes)),
        "edges": vars(write_table(folder.batches, f"{number:04}-edges", batch.pending.edges)),
    }
    skipped = batch.findings.skipped
    if skipped:
        kept = write_list(folder.batches, f"{number:04}-skipped", listed(skipped))
        files["skipped"] = vars(kept)
    entry = {"batch": number, "last_step": batch.last_step, "read_as": dict(read_as), **files}
    transaction.append(Event.RECORDS_ADDED, private=entry)
    return number


def _last_step(grown: GraphSequence, given: Resolved, mentioned: NDArray[np.int32]) -> int:
    """When the last of what some records mention arrives; labels are in order of arrival."""
    edges = given.edges.frame
    ends = [grown.index.labels(edges[end]) for end in ("source", "target")]
    newest = [labels.max(keepdims=True) for labels in (mentioned, *ends) if len(labels)]
    arrivals = [steps_of_labels(grown.node_offsets, label) for label in newest]
    own = stated_steps(given.edges)
    return int(np.concatenate([*arrivals, own]).max(initial=0))


def _no_details() -> pl.DataFrame:
    """What there is to look into: nothing, in the form that everything else takes."""
    import polars as pl

    return pl.DataFrame(schema=dict.fromkeys(("finding", "node", "was", "now"), pl.String))


def _redated(
    sealed: GraphSequence, waiting: Resolved, given: Resolved, *, only_earlier: bool
) -> pl.DataFrame:
    """Known nodes that come with another step, each with the earliest step it came with."""
    import polars as pl

    def label(step: int) -> str:
        return "" if step == UNSTATED else sealed.calendar.label(step)

    ids, now = given.nodes.frame["node"], stated_steps(given.nodes)
    known = known_nodes(sealed, waiting.nodes, ids)
    frame = pl.DataFrame({"node": ids.cast(pl.String), "was": known.stated, "now": now})
    other = frame.filter(pl.Series(known.redated(now, only_earlier=only_earlier)))
    told = other.sort("now").unique("node", keep="first", maintain_order=True)
    return pl.DataFrame(
        {
            "finding": ["re-dated"] * len(told),
            "node": told["node"],
            "was": [label(step) for step in told["was"].to_list()],
            "now": [label(step) for step in told["now"].to_list()],
        }
    )


def _vanished(grown: GraphSequence, mentioned: NDArray[np.int32]) -> pl.DataFrame:
    """Nodes that records do not mention, although they are said to be complete."""
    import polars as pl

    gone = np.ones(grown.nodes, np.bool_)
    gone[mentioned] = False
    nodes = pl.DataFrame({"node": grown.ids.filter(pl.Series(gone)).cast(pl.String)})
    return nodes.select(
        pl.lit("no longer listed").alias("finding"), "node", was=pl.lit(""), now=pl.lit("")
    )
