"""The protocol of the paper's experiments: parameters, releases and the measure of error.

The degree bound, τ and a promise with hubs are read off the data, and a tuned threshold is chosen
by its true error. That is the paper's protocol, and fine where all true values are known anyway.
It is never fine in a release: there, each of them would publish something about somebody.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.degrees import FinalDegrees
from graphveil.graph.promises import Bound, DegreeBound, InOutBound

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

EDITION = 6  # changes whenever results stored by an earlier edition are no longer comparable
EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5", "10")
TIME_EPSILON = "5"
ROUNDED_TO = 5  # bounds are multiples of this
PERCENTILE = 90  # of the degrees, which gives τ
HUB_PERCENTILE = 99  # of the degrees: a node with more links is a hub
# The networks on which constants were chosen: the percentile of hubs, and the rules of thresholds
# that follow. All others are held out.
CHOSEN_ON = (
    "hiv-crf02ag-lanl",
    "hiv-pirc-sandiego",
    "covid-korea-kcdc",
    "acl-athar-positive",
    "acl-aan",
    "cit-hepth",
    "collegemsg",
)
EARLY = 5  # one of so many releases, at least one, is among the first
# The predetermined list from which a projection's threshold is taken, up to the bound.
THRESHOLDS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700, 1000)


@dataclass(frozen=True)
class Protocol:
    """What may be chosen for a whole run.

    Attributes:
        runs: how often each noise is drawn.
        seed: of all noise, and of synthetic data.
        epsilons: the grid of the figure of error against ε.
        time_epsilon: the ε of the figure of error against the number of releases.
    """

    runs: int = 100
    seed: int = 0
    epsilons: tuple[str, ...] = EPSILONS
    time_epsilon: str = TIME_EPSILON

    def __post_init__(self) -> None:
        for name, value, least in (("runs", self.runs, 2), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(name, f"must be a whole number of at least {least}")


def rounded_up(highest: int) -> int:
    """The bound on a degree: the true maximum, up to the next multiple of 5, and 5 at least."""
    return max(1, -(-highest // ROUNDED_TO)) * ROUNDED_TO


def observed_bound(found: FinalDegrees, *, directed: bool) -> Bound:
    """The bound that the paper's protocol takes from the data."""
    outward = rounded_up(_highest(found.outward))
    if not directed:
        return DegreeBound(outward)
    return InOutBound(inward=rounded_up(_highest(found.inward)), outward=outward)


def observed_tau(degrees: NDArray[np.integer]) -> int:
    """τ: the smallest degree that at least 90 % of all nodes do not exceed, and 1 at least.

    Degrees are those after the last step. Most nodes of a transmission network have no link
    at all, and then the percentile is 0, which every node reaches: hence the least of 1.
    """
    return _percentile(degrees, PERCENTILE)


def observed_hubs(found: FinalDegrees, *, directed: bool) -> DegreeBound | InOutBound:
    """What makes a hub, by the rule of these experiments: more links than 99 % of nodes have."""
    outward = _percentile(found.outward, HUB_PERCENTILE)
    if not directed:
        return DegreeBound(outward)
    return InOutBound(inward=_percentile(found.inward, HUB_PERCENTILE), outward=outward)


def times_two(bound: DegreeBound | InOutBound, *, halved: bool = False) -> DegreeBound | InOutBound:
    """The same bound, wrong by two: twice as large, or half as large and at least 1."""
    limits = [max(1, each // 2) if halved else 2 * each for each in bound.limits]
    if isinstance(bound, DegreeBound):
        return DegreeBound(*limits)
    return InOutBound(limits[0], limits[1], bound.oriented)


def thresholds(bound: Bound) -> list[Bound]:
    """Every threshold that a projection is tried with; for directed graphs, every pair.

    The bound itself is among them, with which a projection drops nothing.
    """
    return bound.thresholds(_up_to)


def strides(steps: int) -> list[int]:
    """Publishing every 1, 2, 4, … steps, as long as two releases or more are left."""
    return [1, *takewhile(lambda every: every < steps, (2**power for power in range(1, 63)))]


def release_steps(steps: int, every: int) -> Integers:
    """The steps that are published: the last of each group of `every`; the last group may be short.

    Steps count from 0. What happened between two releases shows in the later one.
    """
    ends = np.arange(every, steps + every, every, dtype=np.int64)
    return np.minimum(ends, steps) - 1


def stride_for(steps: int, releases: int) -> int:
    """How many steps apart releases are to give this number of them; refuses what cannot be."""
    if not 1 <= releases <= steps:
        raise ParameterError("releases", f"{releases} cannot be made of {steps} steps")
    every = -(-steps // releases)
    if len(release_steps(steps, every)) == releases:
        return every
    near = sorted({-(-steps // each) for each in (every - 1, every) if each})
    raise ParameterError(
        "releases",
        f"{releases} cannot be made of {steps} steps by publishing at equal distances",
        hint=f"Possible instead: {', '.join(map(str, near))}.",
    )


def relative_errors(estimates: NDArray[np.number], truth: Integers) -> Floats:
    """The relative L1 error Σ_t |A − f| / f of each run, as `errors_by_release` has its parts."""
    return np.asarray(errors_by_release(estimates, truth).sum(axis=1), dtype=np.float64)


def errors_by_release(estimates: NDArray[np.number], truth: Integers) -> Floats:
    """|A − f| / f of each run and release; where f is 0, it is divided by 1.

    A release of many numbers counts as one: ‖A − f‖₁ / max(‖f‖₁, 1).

    Args:
        estimates: (runs, releases) or (runs, releases, numbers).
        truth: (releases,) or (releases, numbers).
    """
    wrong = np.abs(estimates - truth)
    size = np.abs(truth)
    if truth.ndim == 2:
        wrong, size = wrong.sum(axis=2), size.sum(axis=1)
    return np.asarray(wrong / np.maximum(size, 1), dtype=np.float64)


def early_share(estimates: NDArray[np.number], truth: Integers) -> float:
    """The part of the relative error that the first fifth of the releases has."""
    each = errors_by_release(estimates, truth).mean(axis=0)
    return float(each[: -(-len(each) // EARLY)].sum() / max(each.sum(), np.finfo(float).tiny))


def mean_and_standard_error(errors: Floats) -> tuple[float, float]:
    """The mean over runs, and the standard error of that mean."""
    return float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(len(errors)))


def _percentile(degrees: NDArray[np.integer], percentile: int) -> int:
    if len(degrees) == 0:
        return 1
    return max(1, int(np.percentile(degrees, percentile, method="inverted_cdf")))


def _highest(degrees: NDArray[np.integer]) -> int:
    return int(degrees.max()) if len(degrees) else 0


def _up_to(bound: int) -> list[int]:
    return [*(value for value in THRESHOLDS if value < bound), bound]
