"""Publishing: the next step is counted, sealed in one transaction, and only then announced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import BoundError, IntegrityError
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.planning.intervals import interval
from graphveil.planning.plan import Plan
from graphveil.series import state as running
from graphveil.series.postprocessing import processed
from graphveil.series.state import SeriesState
from graphveil.study import segments
from graphveil.study.chain import canonical, digest
from graphveil.study.growing import grown
from graphveil.study.ledger import Event, Ledger, OpenSeries
from graphveil.study.opening import versions
from graphveil.study.private_tables import write_table
from graphveil.study.store import StoredSeries, Transaction

if TYPE_CHECKING:
    from graphveil.graph.bound import Bound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.statistics.statistic import Statistic
    from graphveil.study.folder import Folder
    from graphveil.study.study_file import StudyFile

DIGITS = 6  # of processed values and standard deviations, which are no whole numbers


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything about the next steps that needs no noise and no lock; a secret.

    Attributes:
        ledger: what it was prepared from, and what was sealed since.
        study: the promise, which no sealing changes.
        series: the open ones, likewise.
        plans: of each series, which never change.
        graph: the sealed graph with the next steps.
        differences: of each series, (steps, numbers), from the first step of the study on, as
            far as the promised bound is kept.
        breaks_at: the first step at which the promised bound is broken, if there is one.
    """

    ledger: Ledger
    study: StudyFile
    series: tuple[OpenSeries, ...]
    plans: Mapping[str, Plan]
    graph: GraphSequence = field(repr=False)
    differences: Mapping[str, NDArray[np.int64]] = field(repr=False)
    breaks_at: int | None = field(repr=False)


def prepare(
    folder: Folder, ledger: Ledger, kept: Mapping[str, StoredSeries], through: int
) -> Prepared:
    """Load the sealed graph, let the waiting records arrive, and count every series."""
    study = ledger.versions[-1]
    graph, made = grown(folder, ledger, study, through), len(ledger.sealed)
    breaks_at = _first_break(graph, study, made)
    # What breaks the promise has no sensitivity, so it is not even counted.
    intact = graph if breaks_at is None else graph.until(breaks_at)
    return Prepared(
        ledger=ledger,
        study=study,
        series=ledger.series,
        plans={name: Plan.from_dict(json.loads(each.plan)) for name, each in kept.items()},
        graph=graph,
        differences=count_all(intact, study, ledger.series) if intact.steps > made else {},
        breaks_at=breaks_at,
    )


def count_all(
    sequence: GraphSequence, study: StudyFile, series: Sequence[OpenSeries]
) -> dict[str, NDArray[np.int64]]:
    """Count all series that look at the same graph in one go."""
    found: dict[str, NDArray[np.int64]] = {}
    for threshold in {each.promise.threshold() for each in series}:
        chosen = [each.promise for each in series if each.promise.threshold() == threshold]
        counted = {promise.name: promise.counted() for promise in chosen}
        bound = threshold or study.bound.bound()
        found |= _counted(_projected(sequence, threshold), counted, bound)
    return found


def _projected(sequence: GraphSequence, threshold: Bound | None) -> GraphSequence:
    from graphveil.graph.projection import greedy_projection

    return sequence if threshold is None else greedy_projection(sequence, threshold)


def _counted(
    sequence: GraphSequence, counted: Mapping[str, Statistic], bound: Bound
) -> dict[str, NDArray[np.int64]]:
    from graphveil.engines import LocalEngine

    counts = LocalEngine().count(sequence, list(dict.fromkeys(counted.values())), bound=bound)
    return {
        name: counts.differences(statistic).reshape(sequence.steps, -1)
        for name, statistic in counted.items()
    }


def _first_break(sequence: GraphSequence, study: StudyFile, made: int) -> int | None:
    """The first unsealed step at which somebody has more links than was promised."""
    from graphveil.graph.degrees import keeps_bound

    if all(each.projection is not None for each in study.series):
        return None
    bound, low, high = study.bound.bound(), made, sequence.steps
    if keeps_bound(sequence, bound):
        return None
    while low < high:  # degrees never fall, so one half of the steps can be ruled out
        middle = (low + high) // 2
        if keeps_bound(sequence.until(middle + 1), bound):
            low = middle + 1
        else:
            high = middle
    return low


def require_kept_so_far(folder: Folder, ledger: Ledger) -> None:
    """Refuse a series that would count on a promise which sealed steps have broken already.

    Series that project do not count on it, so it may be. The new one could never be published,
    and would hold up the others for ever.
    """
    from graphveil.graph.degrees import require_bound

    study = ledger.versions[-1]
    if all(each.projection is not None for each in study.series):
        require_bound(segments.load(folder.segments, ledger.sealed, study), study.bound.bound())


def require_kept(prepared: Prepared, step: int) -> None:
    """Refuse to seal a step that breaks the promise."""
    if prepared.breaks_at is None or step < prepared.breaks_at:
        return
    study = prepared.study
    raise BoundError(
        f"{study.steps().label(step)} cannot be sealed: somebody has more links than the study "
        f"promises ({study.bound.bound()}). Nothing was published and nothing was spent. For "
        "the operator only: do not publish this message or the fact that it appeared, since it "
        "depends on the data. What can be done: correct the records (`graphveil add --withdraw` "
        "takes the latest batch back) if they are wrong; or open a new study with a larger "
        "bound that is justified without looking at the data."
    )


def seal(transaction: Transaction, folder: Folder, prepared: Prepared, step: int) -> Prepared:
    """Close a step: its segment, its release of every series, and its rows, all at once.

    Noise is drawn here and nowhere else, inside the transaction that keeps it. What is handed
    back is the same preparation, for the step that follows.
    """
    label = prepared.study.steps().label(step)
    part = segments.segment(prepared.graph, step)
    files = {
        "nodes": vars(write_table(folder.segments, f"{step:04}-nodes", part.nodes)),
        "edges": vars(write_table(folder.segments, f"{step:04}-edges", part.edges)),
    }
    fact = {"step": step, "label": label, **versions()}
    rows = [transaction.append(Event.STEP_SEALED, public=fact, private=files)]
    kept = transaction.series()
    for each in prepared.series:
        release = _release(prepared, each, kept[each.promise.name], step)
        row = transaction.append(
            Event.RELEASE_MADE,
            public={**release.fact, "label": label},
            private={
                "differences": release.difference,
                "noise": release.noise,
                "state": digest(release.state),
            },
        )
        transaction.enter_release(each.promise.name, step, row, release.state)
        rows.append(row)
    return replace(prepared, ledger=Ledger((*prepared.ledger.rows, *rows)))


@dataclass(frozen=True)
class _Release:
    fact: dict[str, Any]
    difference: list[int] = field(repr=False)
    noise: list[int] = field(repr=False)
    state: str = field(repr=False)


def _release(prepared: Prepared, series: OpenSeries, kept: StoredSeries, step: int) -> _Release:
    """Draw what is to be drawn, and say what the series says at this step."""
    promise, made = series.promise, step - series.first_step
    chosen = prepared.plans[promise.name]
    state = SeriesState.from_dict(json.loads(kept.state))
    differences = prepared.differences[promise.name]
    _require_same_past(state, differences, series, step)
    # A series that opens late begins with everything that is there already.
    since = 0 if made == 0 else step
    difference = [int(number) for number in differences[since : step + 1].sum(axis=0)]
    raw, after = running.advance(chosen, state, difference, ReleaseNoise())
    history = [*prepared.ledger.raw_history(promise.name), list(raw)]
    level = prepared.study.confidence
    bounds = [interval(chosen, made, number, level) for number in raw]
    tidy = _tidied(promise.counted(), history)
    fact = {
        "series": promise.name,
        "step": step,
        "raw": list(raw),
        **tidy,
        "std": round(_deviation(chosen, made), DIGITS),
        "level": level,
        "low": [low for low, _ in bounds],
        "high": [high for _, high in bounds],
    }
    noise = [number - total for number, total in zip(raw, after.totals, strict=True)]
    return _Release(fact, difference, noise, canonical(after.to_dict()))


def _require_same_past(
    state: SeriesState, differences: NDArray[np.int64], series: OpenSeries, step: int
) -> None:
    """Refuse where the sealed graph no longer counts to what was counted when it was sealed."""
    counted = differences[:step].sum(axis=0).tolist() if state.step else list(state.totals)
    if state.step != step - series.first_step or counted != list(state.totals):
        raise IntegrityError(
            f"series '{series.promise.name}': the state in the ledger database does not belong "
            "to the sealed steps. Run `graphveil verify`, and restore the newest backup of the "
            "private folder."
        )


def _tidied(counted: Statistic, history: list[list[int]]) -> dict[str, Any]:
    """The processed values of the newest release; they look back only, and revise nothing."""
    raw = np.array(history if counted.vector else [numbers[0] for numbers in history])
    made = processed(counted, raw)
    newest = np.atleast_1d(made.values[-1]).tolist()
    return {"processed": [round(value, DIGITS) for value in newest], "processing": made.done}


def _deviation(chosen: Plan, made: int) -> float:
    known = chosen.predicted
    return known[made] if made < len(known) else chosen.standard_deviations(made + 1)[made]
