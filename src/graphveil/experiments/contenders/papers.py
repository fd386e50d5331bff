"""The paper's three: SensDiff, Compose-D-bounded and tuned Compose-projection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graphveil.experiments.contenders.trial import Attempt, Trial
from graphveil.experiments.protocol.protocol import Integers
from graphveil.mechanisms.request import Request
from graphveil.mechanisms.sensdiff import SensDiff
from graphveil.planning.plan import Plan


def sensdiff(trial: Trial) -> Attempt:
    """SensDiff with the paper's Γ, where the paper states one."""
    ours = trial.sensitivity
    papers = ours if ours.paper is None else replace(ours, l1=ours.paper)
    width = trial.subject.statistic.width(trial.subject.bound)
    request = Request(papers, trial.epsilon, None, trial.releases, width)
    return trial.attempt(Plan.of(SensDiff(), request))


def compose_d_bounded(trial: Trial) -> Attempt | None:
    """Each total by itself, with ε/T."""
    plan = trial.plan("compose-d-bounded")
    return None if plan is None else trial.attempt(plan)


def compose_projection(trial: Trial) -> Attempt | None:
    """Compose-projection with the threshold whose true error is lowest, as in the paper.

    This looks at what nobody may look at, at no charge: it is optimistic, and not private.
    """
    return min(_projections(trial), key=trial.error, default=None)


def _projections(trial: Trial) -> Iterator[Attempt]:
    """Compose-projection with every threshold; those of equal sensitivity share their noise."""
    drawn: dict[int, Integers] = {}
    for threshold, totals in trial.truth.projected:
        after = trial.subject.statistic.projected_l1(threshold)
        assert after is not None, "only such thresholds are counted"
        if after not in drawn:
            plan = trial.plan("compose-projection", projection=threshold)
            assert plan is not None, "Compose admits whatever can be projected"
            drawn[after] = trial.noise(plan)
        yield Attempt(totals + drawn[after], totals, "compose-projection", after, threshold)
