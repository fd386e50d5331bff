"""An audit: how much ε an observer of whole series can prove, against how much is claimed.

    from graphveil.lab.audit import audit

    outcome = audit(plan, statistic, bound, seed=1)
    assert not outcome.violated, outcome

Runs are spent in three parts, so that the bound is honest: some to learn how to tell the
sides apart, some to choose the event that does it best, and as many again, which no choice
has seen, to judge it. See ``docs/audit.md``.

The observer knows both inputs, sees whole series, and learns from runs with known answers how to
weigh them. It does not trust what a mechanism says about its own noise, so that it also profits
from faults. Three views of a series are tried, and all of them together:

- *increments*, each cut off at the two values it would have without noise. Weighed rightly
  this is the exact likelihood ratio where fresh Laplace noise falls on every difference;
- *totals*, cut off likewise: the same where fresh noise falls on every total;
- *a line* through all totals, with the weights that separate the sides best under
  correlated noise: the likelihood ratio of Gaussian noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound
from graphveil.lab.audit_cases import Case, Integers, Publisher, released, simulated, worst_cases
from graphveil.lab.pairs import Attackable, Pair
from graphveil.mechanisms.planning.plan import Plan

# Evidence against a privacy claim: how often an event happens on two neighbouring inputs.
#
# If a mechanism is (ε, δ)-private, then P(event | one side) ≤ e^ε · P(event | other side) + δ
# for every event. Two counts of how often it happened therefore bound ε from below, with
# whatever confidence is asked: exact binomial bounds (Clopper and Pearson) on either side.


Scores: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
CANDIDATES = 400  # how many thresholds are tried
SHORT_HORIZON = 8  # how many releases are watched where the horizon is unknown
FEWEST_RUNS = 1_000
LEARNT = 10_000  # series that are learnt from at most: enough for the weights
BATCH = 2_000_000  # numbers that are held in memory at a time
RELEASED_STEPS = 200_000  # numbers published with the noise of releases: a long series has fewer
TINY = 1e-12
Progress: TypeAlias = Callable[[float], None]
Outputs: TypeAlias = NDArray[np.int64]  # (runs, steps, width)
Table: TypeAlias = NDArray[np.float64]
VIEWS: tuple[tuple[str, ...], ...] = (
    ("line",),
    ("increments",),
    ("totals",),
    ("increments", "totals", "line"),
)
ROUNDS = 2  # of Newton's method: the sides overlap so much that more change little
RIDGE = 1e-6  # against views that are constant or equal to each other


@dataclass(frozen=True)
class DistinguishingEvent:
    """A score beyond a threshold, which speaks for one of the two sides.

    Attributes:
        threshold: the score from which the event happens, itself included.
        for_larger: whether high scores are meant, which speak for the larger sequence.
    """

    threshold: float
    for_larger: bool

    def happens(self, scores: Scores) -> int:
        """How many of the scores lie in the event."""
        beyond = scores >= self.threshold if self.for_larger else scores <= self.threshold
        return int(beyond.sum())


@dataclass(frozen=True)
class Evidence:
    """How often an event happened on either side, and what follows for ε.

    Attributes:
        runs: how many series were judged on each side.
        likely: how often the event happened on the side it speaks for.
        unlikely: how often it happened on the other side.
        lower_bound: ε is at least this, with the stated confidence.
    """

    runs: int
    likely: int
    unlikely: int
    lower_bound: float


def epsilon_bounds(
    likely: Numbers, unlikely: Numbers, runs: int, delta: float, error: float
) -> Scores:
    """Lower bounds on ε from counts; each is wrong with a probability of at most `error`."""
    from scipy.special import betaincinv

    some = np.maximum(likely, 1)
    least = np.where(likely > 0, betaincinv(some, runs - some + 1, error / 2), 0.0)
    all_but = np.minimum(unlikely, runs - 1)
    most = np.where(unlikely < runs, betaincinv(all_but + 1, runs - all_but, 1 - error / 2), 1.0)
    return np.log(np.maximum((least - delta) / most, 1.0))


def judge(
    event: DistinguishingEvent, larger: Scores, smaller: Scores, delta: float, error: float
) -> Evidence:
    """What the scores of fresh runs on both sides say about ε, by an event chosen before."""
    first, second = (larger, smaller) if event.for_larger else (smaller, larger)
    likely, unlikely, runs = event.happens(first), event.happens(second), len(larger)
    bound = epsilon_bounds(np.array([likely]), np.array([unlikely]), runs, delta, error)
    return Evidence(runs, likely, unlikely, float(bound[0]))


def best_event(
    larger: Scores, smaller: Scores, delta: float, error: float
) -> tuple[float, DistinguishingEvent]:
    """The threshold that would have given the largest bound on these runs, and that bound.

    The choice makes the bound optimistic: it must be judged on other runs.
    """
    return max(_options(larger, smaller, delta, error), key=lambda option: option[0])


def _options(
    larger: Scores, smaller: Scores, delta: float, error: float
) -> Iterator[tuple[float, DistinguishingEvent]]:
    runs = len(larger)
    pooled = np.sort(np.concatenate([larger, smaller]))
    places = np.linspace(0, len(pooled) - 1, CANDIDATES).astype(np.int64)
    thresholds = np.unique(pooled[places])
    larger, smaller = np.sort(larger), np.sort(smaller)
    above = [runs - np.searchsorted(side, thresholds, "left") for side in (larger, smaller)]
    below = [np.searchsorted(side, thresholds, "right") for side in (smaller, larger)]
    for for_larger, (likely, unlikely) in ((True, above), (False, below)):
        bounds = epsilon_bounds(likely, unlikely, runs, delta, error)
        best = int(bounds.argmax())
        yield float(bounds[best]), DistinguishingEvent(float(thresholds[best]), for_larger)


@dataclass(frozen=True)
class AuditEffort:
    """How hard an audit tries.

    Attributes:
        runs: how many simulated series of each side are judged; half as many choose the
            event, and up to that many are learnt from before.
        pilot: how many series of each side decide which pair is worth the whole effort.
        releases: how many series of each side are published with the noise of releases.
    """

    runs: int
    pilot: int
    releases: int

    @classmethod
    def of(cls, runs: int) -> AuditEffort:
        """The other numbers in proportion to the runs that are judged."""
        if runs < FEWEST_RUNS:
            raise ParameterError("runs", f"must be at least {FEWEST_RUNS}: fewer show nothing")
        return cls(runs, min(max(runs // 20, 1_000), 20_000), runs // 100)


SMALL, NORMAL, LONG = map(AuditEffort.of, (20_000, 200_000, 2_000_000))


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes:
        claimed: ε as the plan claims it.
        delta: δ as the plan claims it; None for pure ε.
        pair: the neighbours that were distinguished best.
        views: what the observer looked at.
        simulation: the evidence of simulated series.
        release: the evidence of series with the noise of releases, where there were any.
        confidence: the probability with which every bound of this audit is true.
    """

    claimed: Fraction
    delta: Fraction | None
    pair: Pair
    views: tuple[str, ...]
    simulation: Evidence
    release: Evidence | None
    confidence: float

    @property
    def lower_bound(self) -> float:
        """The real ε is at least this, with the stated confidence."""
        bounds = [part.lower_bound for part in (self.simulation, self.release) if part]
        return max(bounds)

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.lower_bound > self.claimed

    @property
    def verdict(self) -> str:
        """The outcome in words; there is none that says "private"."""
        return "violation" if self.violated else "no violation found"


def audit(
    plan: Plan,
    statistic: Attackable,
    bound: Bound,
    *,
    seed: int,
    effort: AuditEffort = SMALL,
    confidence: float = 1 - 1e-6,
    subject: Publisher | None = None,
    release: Publisher | None = None,
    progress: Progress = lambda _: None,
) -> Audit:
    """Try to refute the ε of a plan on the worst known neighbours of a statistic.

    Args:
        plan: the claim. Its sensitivity is not trusted: distances come from the definition.
        statistic: what is counted; need not be registered.
        bound: the degree bound under which the claim is made.
        seed: what simulated noise and every choice follow from.
        effort: how many runs are spent.
        confidence: how sure the bound must be; it decides how much of ε can be shown.
        subject: what publishes the simulated series; the plan's own mechanism by default.
        release: what publishes with the noise of releases; likewise.
        progress: is called with the part of the work that is done.
    """
    if not 0 < confidence < 1:
        raise ParameterError("confidence", "must lie strictly between 0 and 1")
    test = _Test(float(plan.request.delta or 0), (1 - confidence) / 2)
    cases = _cases(plan, statistic, bound)
    done = _parts(len(cases) + 3, progress)
    watch = _Watch(subject or simulated(plan), np.random.default_rng(seed))
    case = _farthest(watch, cases, effort.pilot, done)
    observer, event = test.train(watch, case, effort.runs // 2)
    done()
    simulation = test.judged(watch, case, observer, event, effort.runs)
    done()
    watch = _Watch(release or released(plan), watch.rng)
    releases = min(effort.releases, RELEASED_STEPS // case.larger.size)
    publication = test.judged(watch, case, observer, event, releases) if releases else None
    done()
    claim = plan.request.epsilon, plan.request.delta
    return Audit(*claim, case.pair, observer.views, simulation, publication, confidence)


def _cases(plan: Plan, statistic: Attackable, bound: Bound) -> list[Case]:
    """The worst pairs, long and wide as the plan's series are."""
    projected = plan.mechanism.projects
    cases = worst_cases(
        statistic,
        bound,
        steps=plan.request.horizon or SHORT_HORIZON,
        width=plan.request.width,
        projection=bound.counted if projected else None,
    )
    if not cases:
        raise ParameterError("statistic", "no two neighbours differ in it, so nothing can leak")
    return cases


def _parts(parts: int, progress: Progress) -> Callable[[], None]:
    """A function to call after each part of the work."""
    count = iter(range(1, parts + 1))
    return lambda: progress(next(count) / parts)


@dataclass(frozen=True)
class _Watch:
    """A subject with the randomness of its runs."""

    subject: Publisher
    rng: np.random.Generator

    def batches(self, case: Case, runs: int) -> Iterator[tuple[Integers, Integers]]:
        """Published series of the larger and the smaller side, never too many at a time."""
        size = max(1, BATCH // case.larger.size)
        for begin in range(0, runs, size):
            here = min(size, runs - begin)
            yield (
                self.subject(case.larger, here, self.rng),
                self.subject(case.smaller, here, self.rng),
            )


@dataclass(frozen=True)
class _Test:
    """How the sides are distinguished: with this δ, and this chance of a bound that is false."""

    delta: float
    error: float

    def train(self, watch: _Watch, case: Case, runs: int) -> tuple[Observer, DistinguishingEvent]:
        """Learn from one batch of runs, then choose the view and the event on other runs."""
        observers, scored = _first_look(watch, case, runs)
        events = [best_event(*scores, self.delta, self.error) for scores in scored]
        best = max(range(len(observers)), key=lambda place: events[place][0])
        return observers[best], events[best][1]

    def judged(
        self, watch: _Watch, case: Case, observer: Observer, event: DistinguishingEvent, runs: int
    ) -> Evidence:
        """Evidence from runs that no choice has seen."""
        ((larger, smaller),) = _scores(watch, case, [observer], runs)
        return judge(event, larger, smaller, self.delta, self.error)


def _first_look(
    watch: _Watch, case: Case, runs: int
) -> tuple[list[Observer], list[tuple[Scores, Scores]]]:
    """Observers that learnt from some runs, and their scores on others."""
    totals = np.cumsum(case.larger, axis=0), np.cumsum(case.smaller, axis=0)
    observers = learn(*totals, *next(watch.batches(case, min(runs, LEARNT))))
    return observers, _scores(watch, case, observers, runs)


def _farthest(watch: _Watch, cases: list[Case], runs: int, done: Callable[[], None]) -> Case:
    """The case whose sides a few runs put farthest apart."""
    separations = []
    for case in cases:
        separations.append(_separation(watch, case, runs))
        done()
    return cases[int(np.argmax(separations))]


def _separation(watch: _Watch, case: Case, runs: int) -> float:
    """How far apart a few runs put the two sides of a case, in standard deviations.

    Few runs cannot show which case has the largest bound, but they can show which has this.
    """
    _, scored = _first_look(watch, case, runs)
    return max(
        float((larger.mean() - smaller.mean()) / (larger.std() + smaller.std() + TINY))
        for larger, smaller in scored
    )


def _scores(
    watch: _Watch, case: Case, observers: list[Observer], runs: int
) -> list[tuple[Scores, Scores]]:
    """For each observer, the scores of the same fresh runs of both sides."""
    scores = [
        [(each.scores(larger), each.scores(smaller)) for each in observers]
        for larger, smaller in watch.batches(case, runs)
    ]
    return [
        (
            np.concatenate([first for first, _ in batch]),
            np.concatenate([second for _, second in batch]),
        )
        for batch in zip(*scores, strict=True)
    ]


@dataclass(frozen=True)
class Observer:
    """A learnt score: high for the larger of two sequences, low for the smaller.

    Attributes:
        larger: the true totals of the larger sequence, (steps, width).
        smaller: those of the smaller.
        line: the weights of the totals in the view called *line*.
        views: which views are used.
        weights: the weight of each column of those views.
    """

    larger: Outputs
    smaller: Outputs
    line: Table
    views: tuple[str, ...]
    weights: Table

    def scores(self, outputs: Outputs) -> Table:
        """One number per run."""
        return _columns(outputs, self.larger, self.smaller, self.line, self.views) @ self.weights


def learn(
    larger: Outputs, smaller: Outputs, runs_larger: Outputs, runs_smaller: Outputs
) -> list[Observer]:
    """One observer per choice of views, each trained on the same runs of both sides."""
    line = _line(larger, smaller, runs_larger, runs_smaller)

    def trained(views: tuple[str, ...]) -> Observer:
        first, second = (
            _columns(runs, larger, smaller, line, views) for runs in (runs_larger, runs_smaller)
        )
        return Observer(larger, smaller, line, views, _logistic(first, second))

    return [trained(views) for views in VIEWS]


def _columns(
    outputs: Outputs, larger: Outputs, smaller: Outputs, line: Table, views: tuple[str, ...]
) -> Table:
    """The views of each run side by side, around the middle between the two sides."""
    error = outputs - (larger + smaller) / 2
    apart = (larger - smaller).astype(np.float64)
    made = {
        "increments": lambda: _cut(_increments(error, axis=1), _increments(apart, axis=0)),
        "totals": lambda: _cut(error, apart),
        "line": lambda: error.reshape(len(error), -1) @ line[:, None],
    }
    return np.hstack([made[view]() for view in views])


def _increments(totals: Table, axis: int) -> Table:
    return np.diff(totals, axis=axis, prepend=0)


def _cut(error: Table, apart: Table) -> Table:
    """Only the numbers that differ between the sides, cut off at what either side would say."""
    differs = apart != 0
    reach = np.abs(apart[differs]) / 2
    return np.clip(error[:, differs], -reach, reach)


def _line(larger: Outputs, smaller: Outputs, first: Outputs, second: Outputs) -> Table:
    """Fisher's direction: the inverse covariance of the errors times the shift."""
    errors = np.vstack(
        [(first - larger).reshape(len(first), -1), (second - smaller).reshape(len(second), -1)]
    ).astype(np.float64)  # products of whole numbers are slow
    covariance = errors.T @ errors / len(errors)
    ridge = RIDGE * np.trace(covariance) / len(covariance) + RIDGE
    shift = (larger - smaller).astype(np.float64).ravel()
    return np.linalg.solve(covariance + ridge * np.eye(len(covariance)), shift)


def _logistic(first: Table, second: Table) -> Table:
    """Weights of the columns that best predict the side, by Newton's method."""
    columns = np.vstack([first, second])
    scale = columns.std(axis=0) + RIDGE
    columns = np.hstack([columns / scale, np.ones((len(columns), 1))])
    side = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        slope = columns.T @ (side - chance) - RIDGE * weights
        curve = (columns * (chance * (1 - chance))[:, None]).T @ columns
        weights += np.linalg.solve(curve + RIDGE * len(columns) * np.eye(len(weights)), slope)
    return np.asarray(weights[:-1] / scale)
