"""The candidates that come along: the paper's three, and ours with and without a promise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from graphveil.backends import LocalEngine
from graphveil.graph.degrees import degrees
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound, NoBound
from graphveil.graph.sequence import GraphSequence
from graphveil.graph.thresholds import FollowingBound
from graphveil.lab.audit_cases import Ahead
from graphveil.lab.experiments.protocol import Integers, times_two
from graphveil.lab.experiments.trial import Attempt, Option, Trial, best_of, tuned
from graphveil.lab.simulation import SimulationNoise
from graphveil.mechanisms.factorisations.objectives import DEFAULT, Objective
from graphveil.mechanisms.following import rank_of_guess
from graphveil.mechanisms.laplace import SensDiff
from graphveil.mechanisms.mechanism import Request
from graphveil.mechanisms.optimised import Returning
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import NoiseSource
from graphveil.series.counting import ThresholdCounts
from graphveil.series.planner import loss_of
from graphveil.series.state import Trail, ask, start
from graphveil.statistics.change import sensitivity_under
from graphveil.statistics.sensitivity import PARTS


def sensdiff(trial: Trial) -> Attempt:
    """SensDiff with the paper's Γ, where the paper states one."""
    return _sensdiff(trial, trial.subject.bound)


def sensdiff_doubled(trial: Trial) -> Attempt | None:
    """The same, promising twice the largest degree: nobody knows it exactly beforehand."""
    bound = trial.subject.bound
    assert isinstance(bound, DegreeBound | InOutBound), "so are those that are read off data"
    return None if trial.subject.statistic.vector else _sensdiff(trial, times_two(bound))


def _sensdiff(trial: Trial, bound: Bound) -> Attempt:
    statistic = trial.subject.statistic
    ours = statistic.sensitivity(bound)
    papers = ours if ours.paper is None else replace(ours, l1=ours.paper)
    request = Request(papers, trial.epsilon, None, trial.releases, statistic.width(bound))
    return trial.attempt(Plan.of(SensDiff(), request))


def compose_d_bounded(trial: Trial) -> Attempt | None:
    """Each total by itself, with ε/T."""
    plan = trial.plan("compose-d-bounded")
    return None if plan is None else trial.attempt(plan)


def compose_projection(trial: Trial) -> Attempt | None:
    """Compose-projection with the threshold whose true error is lowest, as in the paper.

    This looks at what nobody may look at, at no charge: it is optimistic, and not private.
    """
    return best_of(trial, list(_projections(trial)))


def _projections(trial: Trial) -> Iterator[Attempt]:
    """Compose-projection with every threshold; those of equal sensitivity share their noise."""
    drawn: dict[tuple[int, int], Integers] = {}
    for threshold, totals in trial.truth.projected:
        after = trial.subject.statistic.projected_l1(threshold)
        if after is None:  # forests are none of the paper's
            continue
        alike = after, trial.subject.statistic.width(threshold)
        if alike not in drawn:
            plan = trial.plan("compose-projection", projection=threshold)
            assert plan is not None, "Compose admits whatever can be projected"
            drawn[alike] = trial.noise(plan)
        yield Attempt(totals + drawn[alike], totals, "compose-projection", after, threshold)


# Ours without a promise: projected totals with noise shaped like what one person can do.


def shaped(trial: Trial) -> Attempt | None:
    """Range or box noise after projection to the threshold that the protocol's rule gives.

    The threshold of a high-degree count is its τ, which is public in a release; components and
    clusters are counted by forests; the threshold of all else is the D of the promise with hubs.
    """
    return _projected_to(trial, trial.subject.projection_threshold)


def shaped_wrongly(trial: Trial, *, halved: bool) -> Attempt | None:
    """The same with half or twice the threshold, where it was read off the data."""
    by_rule = trial.subject.hub_threshold
    if trial.subject.projection_threshold != by_rule or trial.subject.tau is not None:
        return None
    return _projected_to(trial, times_two(by_rule, halved=halved))


def _projected_to(trial: Trial, threshold: Bound) -> Attempt | None:
    by_rule = (option for option in _kinds_of_projection(trial) if option.threshold == threshold)
    option = next(by_rule, None)
    return None if option is None else option.attempt(trial)


def tuned_shaped(trial: Trial) -> Attempt | None:
    """The same with the threshold whose true error is least."""
    return tuned(trial, _kinds_of_projection(trial))


def _kinds_of_projection(trial: Trial) -> list[Option]:
    """Every projection that was counted, the loosest first."""
    statistic = trial.subject.statistic
    names = {True: "range-projection", False: "box-projection"}
    return [
        Option(
            threshold,
            totals,
            shape.height,
            partial(trial.plan, names[shape.rising], projection=threshold),
        )
        for threshold, totals in reversed(trial.truth.projected)
        if (shape := statistic.projected_shape(threshold)) is not None
    ]


# Ours without a promise, for links: thresholds that follow what was published.


def following(trial: Trial, times: Fraction | None = None) -> Attempt | None:
    """Links at thresholds that follow, with a guess of the last one times a factor, or with none.

    The guess is the degree of the k-th person, k = 2(n + 2)/(3ε) for n questions, and the links are
    those at the end: both read off the data, as the promise of `hubs` is, but no error is looked
    at. Without a guess, the size at the end only plans the error.
    """
    network = trial.truth.network
    if network is None:
        return None
    links = max(1, int(trial.totals[-1]))
    bound = FollowingBound(links, None if times is None else _guess(trial, network, times))
    plan = trial.plan("following", bound=NoBound(), projection=bound)
    if plan is None:
        return None
    counts = ThresholdCounts(LocalEngine(), network, trial.subject.statistic, bound)
    steps = range(network.steps) if trial.truth.steps is None else trial.truth.steps.tolist()
    source = Ahead(SimulationNoise(trial.generator()))
    runs = [_one_run(plan, counts, steps, source) for _ in range(trial.runs)]
    raw, sizes, exact = (np.array(column) for column in zip(*runs, strict=True))
    left = np.rint(exact.mean(axis=0)).astype(np.int64)
    return Attempt(raw, left, plan.mechanism.name, threshold=bound, processed=sizes)


def _guess(trial: Trial, network: GraphSequence, times: Fraction) -> int:
    """The degree of the k-th person, in and out together, times a factor."""
    found = degrees(network)
    total = found.outward + found.inward if network.directed else found.outward
    place = rank_of_guess(trial.releases, trial.epsilon)
    ordered = np.sort(total)[::-1]
    return max(1, round(times * int(ordered[min(place, len(ordered) - 1)])))


def _one_run(
    plan: Plan, counts: ThresholdCounts, steps: Sequence[int], source: NoiseSource
) -> tuple[list[int], list[float], list[int]]:
    """Raw values, processed ones, and what was counted, as releases make them."""
    trail, state = Trail(plan), start(plan)
    raw: list[int] = []
    sizes: list[float] = []
    exact: list[int] = []
    for step in steps:
        asked = ask(trail, state, partial(counts.total, step), source)
        trail, state = trail.after(asked.answers), asked.state
        raw.append(asked.answers[-1].raw(PARTS))
        sizes.append(float(trail.size))
        exact.append(state.totals[0])
    return raw, sizes, exact


# Ours under a promise: about degrees, as the paper's, or about hubs.


def tight(trial: Trial) -> Attempt | None:
    """SensDiff with our Γ."""
    return _published(trial, trial.plan("sensdiff"))


def law(trial: Trial) -> Attempt | None:
    """The noise that fits the shape of the change: returning where it moves, else SensDiff's."""
    returning, plain = trial.plan("moves"), trial.plan("sensdiff")
    if returning is not None:
        request = returning.request
        if request.cost(Returning()) < 2 * request.sensitivity.l1:
            return _published(trial, returning)
    return _published(trial, plain)


def auto(trial: Trial, minimise: str | Objective = DEFAULT) -> Attempt | None:
    """The planner's choice: by "relative", if relative errors of even growth are to be small."""
    return _published(trial, trial.plan(minimise=minimise))


def hubs(trial: Trial) -> Attempt | None:
    """The planner's choice under a promise with hubs, by the rule of the protocol.

    D is a percentile of the degrees, and H is what is true of the data for it: both are read off
    the data, as the paper reads off its bound, but no error is looked at.
    """
    wanted = trial.subject.hub_threshold
    by_rule = (each for each in _promises(trial) if each.threshold.counted == wanted)
    option = next(by_rule, None)
    return None if option is None else option.attempt(trial)


def hubs_wrongly(trial: Trial, *, halved: bool) -> Attempt | None:
    """Half or twice the D and the H of the rule, and what the most exposed person loses.

    By a promise that is half as large, some people lose more than ε.
    """
    statistic, by_rule = trial.subject.statistic, trial.subject.hub_threshold
    counted = {each.counted: (each, totals) for each, totals in trial.truth.first_links}
    within = times_two(by_rule, halved=halved)
    if by_rule not in counted or within not in counted or statistic.vector:
        return None
    (right, _), (true, totals) = counted[by_rule], counted[within]
    hubs = tuple(each // 2 if halved else 2 * each for each in _hubs_of(right))
    promise = HubBound(within, hubs, checked=False)
    plan = trial.plan(bound=promise)
    if plan is None:
        return None
    worst = tuple(map(max, hubs, _hubs_of(true)))
    loss = loss_of(plan, statistic, HubBound(within, worst, checked=False)) / trial.epsilon
    return replace(trial.attempt(plan, totals, promise), worst_loss=float(loss))


def _hubs_of(promise: Bound) -> tuple[int, ...]:
    """How many hubs it admits: none, if it is a bound alone."""
    return promise.hubs if isinstance(promise, HubBound) else (0,) * len(promise.limits)


def tuned_hubs(trial: Trial) -> Attempt | None:
    """The same with the D whose true error is least, and the H that is true for it."""
    return tuned(trial, _promises(trial))


def _published(trial: Trial, plan: Plan | None) -> Attempt | None:
    return None if plan is None else trial.attempt(plan)


def _promises(trial: Trial) -> list[Option]:
    """Every promise with hubs that was counted, the loosest first."""
    statistic = trial.subject.statistic
    return [
        Option(
            promise,
            totals,
            sensitivity_under(statistic, promise).l1,
            partial(trial.plan, bound=promise),
        )
        for promise, totals in reversed(trial.truth.first_links)
    ]
