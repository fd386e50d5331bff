"""Publishing: the next step is counted, sealed in one transaction, and only then announced.

How a release is made is the business of `graphveil.series`; here it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from graphveil.errors import BoundError, IntegrityError
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.planning.plan import Plan
from graphveil.series.counting import SeriesCounts, count_series, first_break
from graphveil.series.release import MadeRelease, has_same_past, make_release
from graphveil.series.state import SeriesState
from graphveil.series.terms import SeriesTerms
from graphveil.study.ledger import Ledger, LedgerRow
from graphveil.study.public.chain import canonical, digest
from graphveil.study.public.facts import DIGITS, ReleaseMade, Software, StepSealed
from graphveil.study.records import segments
from graphveil.study.records.growing import grown
from graphveil.study.records.private_tables import write_table
from graphveil.study.store import StoredSeries, Transaction

if TYPE_CHECKING:
    from graphveil.engines import Engine
    from graphveil.graph.sequence import GraphSequence
    from graphveil.study.folder import Folder
    from graphveil.study.promise import Promise

RawHistory = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything about the next steps that needs no noise and no lock; a secret.

    Attributes:
        last_hash: of the newest row that it was prepared from, or that was entered since.
        promise: of the study, which no sealing changes.
        terms: of each open series, likewise.
        graph: the sealed graph with the next steps.
        counts: of all series, as far as the promised bound is kept.
        breaks_at: the first step at which the promised bound is broken, if there is one.
        history: the raw values of each series so far.
    """

    last_hash: str
    promise: Promise
    terms: Mapping[str, SeriesTerms]
    graph: GraphSequence = field(repr=False)
    counts: SeriesCounts = field(repr=False)
    breaks_at: int | None = field(repr=False)
    history: Mapping[str, RawHistory]


def prepare(
    folder: Folder,
    ledger: Ledger,
    kept: Mapping[str, StoredSeries],
    through: int,
    engine: Engine,
) -> Prepared:
    """Load the sealed graph, let the waiting records arrive, and count every series."""
    promise, made = ledger.versions[-1], len(ledger.sealed)
    graph = grown(folder, ledger, promise, through)
    terms = terms_of(ledger, kept)
    breaks_at = None
    if not all(each.projects for each in terms.values()):
        breaks_at = first_break(engine, graph, promise.degree_bound, since=made)
    # What breaks the promise has no sensitivity, so it is not even counted.
    intact = graph if breaks_at is None else graph.until(breaks_at)
    counted = terms.values() if intact.steps > made else ()
    return Prepared(
        last_hash=ledger.rows[-1].hash,
        promise=promise,
        terms=terms,
        graph=graph,
        counts=count_series(engine, intact, counted),
        breaks_at=breaks_at,
        history={
            each.series: tuple(release.raw for release in each.releases) for each in ledger.series
        },
    )


def terms_of(ledger: Ledger, kept: Mapping[str, StoredSeries]) -> dict[str, SeriesTerms]:
    """The terms of every series; their plans are those that they were opened with."""
    bound = ledger.versions[-1].degree_bound
    return {
        each.series: SeriesTerms(
            statistic=each.promise.counted(),
            bound=each.promise.threshold() or bound,
            plan=Plan.from_dict(json.loads(kept[each.series].plan)),
            first_step=each.first_step,
        )
        for each in ledger.series
    }


def require_kept_so_far(folder: Folder, ledger: Ledger, engine: Engine) -> None:
    """Refuse a series that would count on a promise which sealed steps have already broken.

    Series that project do not count on it, so it may be. The new one could never be published,
    and would hold up the others forever.
    """
    from graphveil.graph.degrees import broken_promise

    promise = ledger.versions[-1]
    if all(each.projection is not None for each in promise.series):
        sealed = segments.load(folder.segments, ledger.sealed, promise)
        if not engine.keeps_bound(sealed, promise.degree_bound):
            raise broken_promise(promise.degree_bound)


def require_kept(prepared: Prepared, step: int) -> None:
    """Refuse to seal a step that breaks the promise."""
    if prepared.breaks_at is None or step < prepared.breaks_at:
        return
    promise = prepared.promise
    raise BoundError(
        f"{promise.calendar.label(step)} cannot be sealed: somebody has more links than promised "
        f"({promise.degree_bound}). Nothing was published or spent. For the operator only: keep "
        "secret that this appeared. If records are wrong, correct them (see `graphveil add "
        "--withdraw`); else open a new study with a larger bound, chosen without the data."
    )


@dataclass(frozen=True, eq=False)
class Sealed:
    """A step that was sealed.

    Attributes:
        rows: what was entered into the ledger.
        prepared: the same preparation, for the step that follows.
    """

    rows: tuple[LedgerRow, ...]
    prepared: Prepared


def seal(transaction: Transaction, folder: Folder, prepared: Prepared, step: int) -> Sealed:
    """Close a step: its segment, its release of every series, and its rows, all at once.

    Noise is drawn here and nowhere else, inside the transaction that keeps it.
    """
    label = prepared.promise.calendar.label(step)
    part = segments.segment(prepared.graph, step)
    files = {
        "nodes": vars(write_table(folder.segments, f"{step:04}-nodes", part.nodes)),
        "edges": vars(write_table(folder.segments, f"{step:04}-edges", part.edges)),
    }
    fact = StepSealed(step=step, label=label, **Software.now())
    rows = [transaction.append(fact, private=files)]
    kept, history = transaction.series(), dict(prepared.history)
    for name in prepared.terms:
        made = _release(prepared, name, kept[name], step)
        rows.append(_enter(transaction, name, made, prepared.promise.confidence))
        history[name] = (*history[name], made.release.raw)
    after = replace(prepared, last_hash=rows[-1].hash, history=history)
    return Sealed(tuple(rows), after)


def _release(prepared: Prepared, name: str, kept: StoredSeries, step: int) -> MadeRelease:
    """Draw what is to be drawn; refuses a state that does not belong to the sealed steps."""
    terms, state = prepared.terms[name], SeriesState.from_dict(json.loads(kept.state))
    differences = prepared.counts.differences(terms)
    if terms.first_step + state.step != step or not has_same_past(terms, state, differences):
        raise IntegrityError(
            f"series '{name}': the state in the ledger database does not belong to the sealed "
            "steps. Run `graphveil verify`, and restore the newest backup of the private folder."
        )
    label = prepared.promise.calendar.label(step)
    return make_release(terms, state, differences, prepared.history[name], label, ReleaseNoise())


def _enter(transaction: Transaction, name: str, made: MadeRelease, level: str) -> LedgerRow:
    """Enter a release, with the state that the series goes on from."""
    state = canonical(made.state.to_dict())
    private = {
        "differences": list(made.difference),
        "noise": list(made.noise),
        "state": digest(state),
    }
    row = transaction.append(_announcement(name, made, level), private=private)
    transaction.enter_release(name, made.release.step, row, state)
    return row


def _announcement(name: str, made: MadeRelease, level: str) -> ReleaseMade:
    """What the public is told."""
    release = made.release
    bounds = release.intervals(level)
    return ReleaseMade(
        series=name,
        step=release.step,
        label=release.label,
        raw=release.raw,
        processed=tuple(round(value, DIGITS) for value in release.processed),
        processing=release.processing,
        noise_std=round(release.noise_std, DIGITS),
        level=level,
        low=tuple(low for low, _ in bounds),
        high=tuple(high for _, high in bounds),
    )
