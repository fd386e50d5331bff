"""Promising: which bound and how many hubs to promise, tried on a public or simulated network.

The promise of a study must not follow from its own records. A network of the same kind that
anybody may see shows what each promise would leave out, and how much noise it would need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError, ParameterError

if TYPE_CHECKING:
    from graphveil.engines import Engine
    from graphveil.graph.promises.bound import DegreeBound, InOutBound
    from graphveil.graph.promises.hub_bound import HubBound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.statistics.statistic import Statistic

WARNING = (
    "Use a public or simulated network of the same kind, never the records to be published: a "
    "promise that follows from them tells about the people in them."
)
FINE = 12  # every bound up to here is tried, then each about a fifth larger than the last
COARSE = 5 / 4
COARSE_BOTH_WAYS = 8 / 5  # where in- and out-bounds are tried together


@dataclass(frozen=True)
class Wanted:
    """A series to be published: what is counted, and its share of the budget."""

    name: str
    statistic: Statistic
    epsilon: Fraction


@dataclass(frozen=True)
class SeriesError:
    """How far a series would be off under a promise, all root mean squares over releases.

    Attributes:
        l1: Γ, what one person can change.
        mechanism: which would be chosen.
        noise: its predicted standard deviation.
        missed: by how much too few, or too many, the counted links make the number.
        size: of the true number.
    """

    l1: int
    mechanism: str
    noise: float
    missed: float
    size: float

    @property
    def error(self) -> float:
        """The distance from the true number: noise and what is missed together."""
        return hypot(self.noise, self.missed)

    @property
    def relative(self) -> float:
        """The error as a part of the true number."""
        return self.error / max(self.size, 1.0)


@dataclass(frozen=True)
class TriedPromise:
    """One promise: a bound, the fewest hubs with which the network keeps it, and what follows.

    Attributes:
        bound: as a study file would have it.
        dropped: the part of all links that is not counted.
        series: by name.
    """

    bound: HubBound
    dropped: float
    series: dict[str, SeriesError]

    @property
    def score(self) -> float:
        """The relative error, averaged over the series."""
        return sum(each.relative for each in self.series.values()) / len(self.series)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        within = self.bound.within.limits
        return {
            "bound": within[0] if len(within) == 1 else list(within),
            "hubs": self.bound.hubs[0] if len(within) == 1 else list(self.bound.hubs),
            "dropped": self.dropped,
            "mean_relative_error": self.score,
            "series": {
                name: {
                    "l1": each.l1,
                    "mechanism": each.mechanism,
                    "noise": each.noise,
                    "missed": each.missed,
                    "error": each.error,
                    "relative": each.relative,
                }
                for name, each in self.series.items()
            },
        }


@dataclass(frozen=True)
class TriedPromises:
    """Promises from the smallest bound to the largest degree, which leaves nothing out.

    Attributes:
        steps: of the network.
        horizon: for how many releases noise is predicted.
        tried: in order of their bounds.
    """

    steps: int
    horizon: int
    tried: tuple[TriedPromise, ...]

    @property
    def best(self) -> TriedPromise:
        """The one with the smallest error; of equals, that with the smallest bound."""
        return min(self.tried, key=lambda each: each.score)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "warning": WARNING,
            "steps": self.steps,
            "releases": self.horizon,
            "best": self.best.as_data(),
            "tried": [each.as_data() for each in self.tried],
        }


def tried_promises(
    sequence: GraphSequence,
    series: Sequence[Wanted],
    *,
    horizon: int | None = None,
    engine: Engine | None = None,
) -> TriedPromises:
    """Try every promise on a network that anybody may see.

    Args:
        sequence: the network.
        series: what is to be published.
        horizon: how many releases there will be; None takes the steps of the network.
        engine: where counting runs; by default on this machine.
    """
    from graphveil.engines import LocalEngine

    bench = _Bench(sequence, tuple(series), horizon or sequence.steps, engine or LocalEngine())
    tried = tuple(filter(None, map(bench.tried, _bounds(sequence))))
    if not tried:
        raise ParameterError(
            "series", "no bound admits all of these in this network", hint="Try them one by one."
        )
    return TriedPromises(sequence.steps, bench.horizon, tried)


@dataclass(frozen=True)
class _Bench:
    """A network, what is wanted of it, and where it is counted."""

    sequence: GraphSequence
    series: tuple[Wanted, ...]
    horizon: int
    engine: Engine

    def __post_init__(self) -> None:
        if not self.sequence.edges:
            raise InputError("this network has no links, so that every promise is kept")
        for each in self.series:
            each.statistic.require_domain(directed=self.sequence.directed)
            if each.statistic.vector:
                raise ParameterError(
                    "series",
                    f"'{each.name}' has one number per degree, and how many depends on the bound",
                    hint="Compare promises by series of one number, such as edges.",
                )

    def tried(self, within: DegreeBound | InOutBound) -> TriedPromise | None:
        """One promise; None where a series has no meaning under it, such as τ above the bound."""
        from graphveil.graph.degrees import fewest_hubs
        from graphveil.graph.promises.hub_bound import HubBound

        bound = HubBound(within, fewest_hubs(self.sequence, within), checked=False)
        counted = self.engine.counted_part(self.sequence, bound)
        truth, kept = self._totals(self.sequence), self._totals(counted)
        try:
            found = {
                each.name: self._error(each, bound, truth[place], kept[place])
                for place, each in enumerate(self.series)
            }
        except ParameterError:
            return None
        return TriedPromise(bound, 1 - counted.edges / self.sequence.edges, found)

    def _totals(self, sequence: GraphSequence) -> list[NDArray[np.int64]]:
        statistics = [each.statistic for each in self.series]
        counts = self.engine.count(sequence, list(dict.fromkeys(statistics)))
        return [counts.totals(each) for each in statistics]

    def _error(
        self,
        wanted: Wanted,
        bound: HubBound,
        truth: NDArray[np.int64],
        kept: NDArray[np.int64],
    ) -> SeriesError:
        from graphveil.planning.planner import plan

        chosen = plan(wanted.statistic, bound, epsilon=wanted.epsilon, horizon=self.horizon)
        return SeriesError(
            l1=chosen.request.sensitivity.l1,
            mechanism=chosen.mechanism.name,
            noise=_root_mean_square(np.array(chosen.predicted)),
            missed=_root_mean_square(truth - kept),
            size=_root_mean_square(truth),
        )


def _root_mean_square(values: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.square(values.astype(np.float64)))))


def _bounds(sequence: GraphSequence) -> Iterator[DegreeBound | InOutBound]:
    """The bounds to try, up to the largest degrees."""
    from graphveil.graph.degrees import degrees
    from graphveil.graph.promises.bound import DegreeBound, InOutBound

    found = degrees(sequence)
    outward = int(found.outward.max(initial=1))
    if not sequence.directed:
        yield from map(DegreeBound, _levels(outward, FINE, COARSE))
        return
    for inward in _levels(int(found.inward.max(initial=1)), 2, COARSE_BOTH_WAYS):
        for most in _levels(outward, 2, COARSE_BOTH_WAYS):
            yield InOutBound(inward, most, sequence.oriented)


def _levels(largest: int, fine: int, factor: float) -> list[int]:
    """1, 2, 3, … and then in growing strides, the largest included."""
    found, level = [], 1
    while level < largest:
        found.append(level)
        level = level + 1 if level < fine else max(level + 1, round(level * factor))
    return [*found, largest]
