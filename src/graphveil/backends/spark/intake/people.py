"""The people of one part: all that rows of a batch say of them, in one task; private.

A part holds every row of its ids: those of the batch, and those of nodes that wait. So what becomes
of each node is decided here; the driver gets sums, and the first row that breaks each rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import SparkGraph
from graphveil.backends.spark.intake.label_index import LabelIndex
from graphveil.backends.spark.intake.resolving import Reading
from graphveil.backends.spark.jobs import as_arrow
from graphveil.graph.intake.identity import UNKNOWN
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import UNSTATED

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Int32s = NDArray[np.int32]
Mask = NDArray[np.bool_]
DROPPED = -2  # the label of nodes that were left out, with their links
EACH = "node {}, stated int, last int, was int, known boolean, states int, step int, new boolean"
_SAMPLED = 64  # nodes of a part from which the driver learns how steps and ids are spread


class ArrivalRules(NamedTuple):
    """How nodes of a batch arrive.

    Attributes:
        reading: how rows become people and steps.
        late: refuse records of closed steps, or let them "join" the first open one.
        undated: refuse nodes without a time, put them into the "first" open step, or "drop" them.
        only_earlier: whether a known node may state a later step without being re-dated.
    """

    reading: Reading
    late: Late
    undated: str
    only_earlier: bool = False


class Arriving(NamedTuple):
    """What a task needs to know.

    Attributes:
        graph: before the batch.
        labels: of who is there.
        coming: the rules.
        note_rows: whether to write which rows of the batch are not sealed.
    """

    graph: SparkGraph
    labels: LabelIndex
    coming: ArrivalRules
    note_rows: bool


class PartFound(NamedTuple):
    """What became of the nodes of one part.

    Attributes:
        part: its number.
        counts: of nodes and rows, by name.
        first: the first row that breaks each rule, by name.
        last_step: at which the last of the batch arrives; -1 if nobody does.
        new: how many nodes arrive.
        each: the file of its nodes, one row for each.
        dropped: the file of those that were left out, in the form of an index.
        rows: the file of rows of the batch whose nodes are not sealed.
        sample: some of the new nodes: their steps, and their ids.
    """

    part: int
    counts: dict[str, int]
    first: dict[str, int]
    last_step: int
    new: int
    each: str | None
    dropped: str | None
    rows: str | None
    sample: tuple[Int32s, list[object]]


def found_in(arriving: Arriving, part: int, rows: pa.Table) -> PartFound:
    """What becomes of the nodes of a part; runs on a worker."""
    import polars as pl

    frame = pl.DataFrame(rows)
    people = _People.of(arriving, part, frame)
    one, new, dropped = people.frame, people.new, people.dropped
    write = arriving.graph.workspace.write
    comes = (one["rows"].to_numpy() > 0) & ~people.there
    return PartFound(
        part,
        people.counts(),
        people.first_rows(frame),
        int(one["step"].to_numpy()[comes].max(initial=-1)),
        int(new.sum()),
        write("people", _each(people)) if len(one) else None,
        write("labels", _left_out(people)) if dropped.any() else None,
        _unsealed(arriving, frame, one.filter(~pl.Series(people.there | dropped))),
        _sample(people),
    )


def _each(people: _People) -> pa.Table:
    """The columns of EACH."""
    import polars as pl

    names = ("node", "stated", "last", "was", "known", "states", "step")
    return as_arrow(people.frame.select(*names, new=pl.Series(people.new)))


def _left_out(people: _People) -> pa.Table:
    """Nodes that were left out, in the form of an index."""
    import polars as pl

    chosen = people.frame.filter(pl.Series(people.dropped)).select(
        "node", label=pl.lit(DROPPED, pl.Int32), stated=pl.lit(UNSTATED, pl.Int32)
    )
    return as_arrow(chosen, people.arriving.labels.schema)


def _unsealed(arriving: Arriving, rows: pl.DataFrame, one: pl.DataFrame) -> str | None:
    """Write the batch's rows of some nodes, each with the one step that all rows of it state."""
    import polars as pl

    if not arriving.note_rows:
        return None
    own = rows.filter(pl.col("place") >= 0).join(one.select("node", "stated"), on="node")
    if not len(own):
        return None
    reading = arriving.coming.reading
    step = pl.col("stated") if reading.rules.merges_ids else pl.coalesce("step", "stated")
    chosen = own.select("node", step.alias("step"), "place")
    return arriving.graph.workspace.write("rows", as_arrow(chosen, reading.schema))


def _sample(people: _People) -> tuple[Int32s, list[object]]:
    """The steps and ids of some new nodes, spread over all of them."""
    new, one = np.flatnonzero(people.new), people.frame
    chosen = new[np.linspace(0, len(new) - 1, min(_SAMPLED, len(new))).astype(int)]
    return one["step"].to_numpy()[chosen], one["node"].gather(chosen).to_list()


class _People(NamedTuple):
    """One row for each node of a part: what its rows state, and whether it is known already.

    Attributes:
        arriving: who is there, and rules.
        frame: columns `node`, `stated` and `last` (steps of the batch, or null), `rows` and `place`
            (how many of the batch, and the first), `waits`, `was` and `states` (steps, or
            UNSTATED, before and now), `known`, and `step` (at which it would arrive).
        there: who is in the graph already.
        arrived: at which step each is in the graph, or will be.
    """

    arriving: Arriving
    frame: pl.DataFrame
    there: Mask
    arrived: Int32s

    @classmethod
    def of(cls, arriving: Arriving, part: int, rows: pl.DataFrame) -> _People:
        import polars as pl

        graph = arriving.graph
        one = _one_each(rows, merges=arriving.coming.reading.rules.merges_ids)
        finder = arriving.labels.finder(part)
        places = finder.places(one["node"])
        there = places != UNKNOWN
        label, stated = (
            each[places] if len(each) else places for each in (finder.known, finder.stated)
        )
        waited = pl.col("waited").fill_null(UNSTATED)
        was = pl.when(pl.Series(there)).then(pl.Series(stated, dtype=pl.Int32)).otherwise(waited)
        states = pl.when("waits").then("waited").otherwise("stated").fill_null(UNSTATED)
        frame = one.with_columns(
            was=was,
            known=pl.Series(there) | pl.col("waits"),
            states=states,
            step=pl.max_horizontal(states, pl.lit(graph.steps, pl.Int32)),
        )
        of_label = np.searchsorted(graph.node_offsets, label, side="right").astype(np.int32) - 1
        return cls(arriving, frame, there, np.where(there, of_label, frame["step"].to_numpy()))

    @property
    def dropped(self) -> Mask:
        """Who is left out: new, and without a time."""
        if self.arriving.coming.undated != "drop":
            return np.zeros(len(self.frame), np.bool_)
        waits, undated = self.frame["waits"].to_numpy(), self.frame["stated"].is_null().to_numpy()
        found: Mask = ~self.there & ~waits & undated
        return found

    @property
    def new(self) -> Mask:
        """Who arrives."""
        return ~self.there & ~self.dropped

    def _rules(self) -> dict[str, Mask]:
        """Which nodes are what, by name."""
        one, open_step = self.frame, self.arriving.graph.steps
        known, agree = one["known"].to_numpy(), one["stated"].eq_missing(one["last"]).to_numpy()
        dated = one["stated"].is_not_null().to_numpy()
        stated, last = (one[c].fill_null(UNSTATED).to_numpy() for c in ("stated", "last"))
        was = one["was"].to_numpy()
        other = (
            stated < was if self.arriving.coming.only_earlier else (stated != was) | (last != was)
        )
        redated = known & dated & other
        return {
            "undated": ~known & ~dated,
            "moved": redated & (stated != self.arrived),
            "past": ~known & dated & (stated < open_step),
            "differing": ~known & ~agree,
            "redated": redated,
            "known": known & (one["rows"].to_numpy() > 0),
            "new": ~known,
        }

    def counts(self) -> dict[str, int]:
        """How many nodes are what, by name; and rows."""
        rows, rules = self.frame["rows"].to_numpy(), self._rules()
        numbers = {name: int(which.sum()) for name, which in rules.items()}
        return numbers | {
            "rows": int(rows.sum()), "undated_rows": int(rows[rules["undated"]].sum())
        }  # fmt: skip

    def first_rows(self, rows: pl.DataFrame) -> dict[str, int]:
        """The first row of the batch that breaks each rule, by name."""
        rules, places = self._rules(), self.frame["place"].fill_null(-1).to_numpy()
        stated, was = (self.frame[c].fill_null(UNSTATED).to_numpy() for c in ("stated", "was"))
        rules["moved"] &= stated != was
        undated = (
            self.frame["stated"].is_null().to_numpy()
        )  # known or not: rows speak for themselves
        rules["undated"] = undated & (self.frame["rows"].to_numpy() > 0)
        found = {
            name: int(places[rules[name]].min())
            for name in ("undated", "moved", "past")
            if rules[name].any()
        }
        if rules["differing"].any():
            found["differing"] = _first_other(rows, self.frame["node"], rules["differing"])
        return found


def _one_each(rows: pl.DataFrame, *, merges: bool) -> pl.DataFrame:
    """What the rows of each node state; rows that wait have places below zero, by batch."""
    import polars as pl

    step, place = pl.col("step"), pl.col("place")
    last = step.min() if merges else step.max()
    one = (
        rows.filter(place >= 0)
        .group_by("node")
        .agg(step.min().alias("stated"), last.alias("last"), pl.len().alias("rows"), place.min())
    )
    before = (
        rows.filter(place < 0)
        .sort([place, step], descending=[True, False])  # the first batch counts
        .group_by("node", maintain_order=True)
        .agg(step.first().alias("waited"), pl.lit(value=True).alias("waits"))
    )
    found = one.join(before, on="node", how="full", coalesce=True)
    return found.with_columns(pl.col("waits").fill_null(value=False), pl.col("rows").fill_null(0))


def _first_other(rows: pl.DataFrame, nodes: pl.Series, chosen: Mask) -> int:
    """The first row that states a later step than another of its node; there is one."""
    import polars as pl

    wanted = nodes.filter(pl.Series(chosen))
    theirs = rows.filter(
        pl.col("node").is_in(wanted.implode())
        & pl.col("step").is_not_null()
        & (pl.col("place") >= 0)
    )
    later = theirs.filter(pl.col("step") > pl.col("step").min().over("node"))
    return int(later["place"].min())  # type: ignore[arg-type]
