"""A plan: a mechanism with its public parameters, and the error it will have.

The error is that of totals, or that of what is new over the last steps, from the plan's own laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count, groupby, islice
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError, require_known_format
from graphveil.mechanisms.factorisations.objectives import Aim, Objective
from graphveil.mechanisms.mechanism import Epoch, Mechanism, Request, mechanism
from graphveil.mechanisms.planning.usefulness import Judgement
from graphveil.noise.exact_numbers import as_text
from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.laws import Law, NoiseLaw
from graphveil.noise.noise_sum import ROUNDING_VARIANCE, WIDE, NoiseSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

REFERENCE_STEPS = 100  # on which plans of unknown length are judged and shown
TIE = 1.001  # predicted errors that differ by less than a thousandth are equal
# Of stored plans: with epochs cut, with more after a joint law, in a pool, following.
FORMATS = (1, 2, 3, 4, 5, 6)
Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, repr=False)
class Plan:
    """How a series will be published; depends on public parameters only.

    Attributes:
        mechanism: what adds the noise.
        request: the public parameters.
        epochs: computed once and stored, because computing them again would be slow.
        subject: what is published, in words, for display.

    Examples:
        >>> chosen = plan("edges", 15, epsilon="1/2", horizon=20)
        >>> chosen.budget, len(chosen.predicted)
        ('ε = 0.5', 20)
        >>> chosen.mean_std < plan("edges", 15, epsilon="1/4", horizon=20).mean_std
        True
    """

    mechanism: Mechanism
    request: Request
    epochs: tuple[Epoch, ...] = ()
    subject: str = ""

    @classmethod
    def of(cls, mechanism: Mechanism, request: Request, subject: str = "") -> Plan:
        """Plan a series; refuses what the mechanism does not admit."""
        reason = mechanism.refusal(request)
        if reason is not None:
            raise ParameterError("mechanism", f"{mechanism.name} {reason}")
        return cls(mechanism, request, epochs_of(mechanism, request), subject)

    def epoch(self, number: int) -> Epoch:
        """The epoch with this number; refuses to go past the horizon."""
        if number < len(self.epochs):
            return self.epochs[number]
        known = self.epochs and self.request.horizon is not None
        found = None if known else self.mechanism.epoch(self.request, number)
        if found is None:
            raise ParameterError(
                "horizon",
                f"all {self.request.horizon} releases of this series were made",
                hint="`continued` in `mechanisms.planning.continuation` plans more of them.",
            )
        return found

    def standard_deviations(self, steps: int | None = None) -> list[float]:
        """The predicted standard deviation of each number of each release.

        Exact, rounding included; only where the noise is wide is rounding taken to add just
        1/12 to the variance, which is then true to less than a thousandth.
        """
        wanted = steps or self.request.horizon
        if wanted is None:
            raise ParameterError("steps", "is needed where the horizon is unknown")
        return [sqrt(variance) for variance in islice(self._variances(), wanted)]

    def _variances(self) -> Iterator[float]:
        """The variance of each release in turn."""
        carried: list[tuple[Law, NDArray[np.float64]]] = []
        before, whole = 0.0, True
        settled = found = 0.0  # of noise that was rounded where an epoch was cut, or is joint
        known, made = None, 0
        for number in count():
            epoch = self.epoch(number)
            if isinstance(epoch.law, JointLaw):  # in whole numbers, like noise that was rounded
                for place, found in enumerate(epoch.joint_variances(epoch.law), start=made):
                    yield found * self.mechanism.unit(self.request, epoch, place) ** 2
                made += epoch.steps
                settled = found if self.mechanism.adds_up else 0.0
                continue
            law = epoch.single_law
            if epoch.factorisation is not known:  # often the same, epoch after epoch
                known = epoch.factorisation
                squares, integral = known.decoder_squares(), known.integral_steps()
            spread = before + law.variance() * squares[: epoch.steps]
            exact = integral[: epoch.steps] & whole
            narrow = ~exact & (spread < WIDE)
            for place, variance in enumerate(spread.tolist()):
                if narrow[place]:
                    rows = [*carried, (law, epoch.factorisation.single_row(place))]
                    found = NoiseSum.of(rows, Fraction(1, 2)).rounded_variance()
                else:
                    found = variance if exact[place] else variance + ROUNDING_VARIANCE
                yield settled + found
            if epoch.cut is not None:
                settled, carried, before, whole = settled + found, [], 0.0, True
            elif self.mechanism.adds_up:
                before, whole = float(spread[-1]), bool(exact[-1])
                if before < WIDE:
                    carried.append((law, epoch.factorisation.single_row(-1)))

    def place_of(self, releases: int) -> tuple[int, int]:
        """The epoch in which so many releases end, and how many of them are in it."""
        number, left = 0, releases
        while left > self.epoch(number).steps:
            left -= self.epoch(number).steps
            number += 1
        return number, left

    def following(self, releases: int) -> tuple[tuple[NoiseLaw, int], ...]:
        """The laws of what comes after so many releases, each with its steps.

        Those of all epochs that are known, or of the one under way and the next.
        """
        number, made = self.place_of(releases)
        current, later = self.epoch(number), self.epochs[number + 1 :]
        if not self.request.horizon:
            later = (self.epoch(number + 1),) if made else ()
        rest = (current.law, current.steps - made)
        return tuple(
            (law, steps)
            for law, steps in (rest, *((each.law, each.steps) for each in later))
            if steps
        )

    def outlook(self, releases: int) -> tuple[float, ...]:
        """The standard deviations of what comes after so many releases."""
        wanted = self.request.horizon or releases + REFERENCE_STEPS
        return tuple(self.standard_deviations(wanted)[releases:])

    @cached_property
    def predicted(self) -> tuple[float, ...]:
        """The standard deviations up to the horizon, or of the first steps if it is unknown."""
        return tuple(self.standard_deviations(self.request.horizon or REFERENCE_STEPS))

    def standard_deviation(self, place: int) -> float:
        """The predicted standard deviation of one release, counted from 0."""
        if place < len(self.predicted):
            return self.predicted[place]
        farther = self._farther
        farther += islice(self._later_deviations, max(0, place + 1 - len(farther)))
        return farther[place]

    @cached_property
    def _farther(self) -> list[float]:
        """The standard deviations as far as somebody has asked, where the horizon is unknown."""
        return []

    @cached_property
    def _later_deviations(self) -> Iterator[float]:
        """Those that come after them."""
        return (sqrt(variance) for variance in self._variances())

    @property
    def mean_std(self) -> float:
        """The mean of the predicted standard deviations."""
        return sum(self.predicted) / len(self.predicted)

    @property
    def last_std(self) -> float:
        """The predicted standard deviation of the last release."""
        return self.predicted[-1]

    def judged(self, expected: int) -> Judgement:
        """The noise of the last release beside a public guess of how large the number will be."""
        return Judgement(self.last_std, expected)

    def warning(self, expected: int) -> str | None:
        """The warning for a steward who expects numbers of about this size; None if all is well.

        Args:
            expected: a public guess of how large the number will be at the last release;
                never the number itself.
        """
        judgement = self.judged(expected)
        if not judgement.too_noisy:
            return None
        return (
            f"The noise will drown the signal: at release {len(self.predicted)} its standard "
            f"deviation is {self.last_std:,.1f}, which is {judgement.share:.0%} of the expected "
            f"{expected:,}. What helps: a larger ε, fewer releases, a smaller degree bound, "
            "or a statistic that one person can change less."
        )

    @property
    def epsilon(self) -> Fraction:
        """What the whole series costs; of a series in a pool, what the pool costs."""
        return self.request.epsilon

    @property
    def budget(self) -> str:
        """The same in symbols, with δ and the share of a pool."""
        spent, share = f"ε = {as_text(self.request.epsilon)}", self.request.pool_share
        if self.request.delta is not None:
            spent = f"{spent}, δ = {as_text(self.request.delta)}"
        return spent if share is None else f"{as_text(share)} of a pool of {spent}"

    def describe(self) -> str:
        """The plan in one sentence for people."""
        request = self.request
        length = "any number of releases" if request.horizon is None else _releases(request.horizon)
        subject = self.subject or request.sensitivity.assumption
        return (
            f"{subject}: {self.mechanism.name}, {self.budget}, {length}; predicted standard "
            f"deviation {self.mean_std:,.2f} on average over {_releases(len(self.predicted))}, "
            f"{self.last_std:,.2f} at the last"
        )

    def __repr__(self) -> str:
        return f"<Plan of {self.describe()}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store: texts, whole numbers, lists."""
        return {
            "format": self._format,
            "mechanism": self.mechanism.name,
            "subject": self.subject,
            "request": self.request.to_dict(),
            "epochs": _epochs_to_list(self.epochs),
        }

    @property
    def _format(self) -> int:
        """The first that has what this plan needs, so that older versions can read most plans."""
        if self.request.by_cells:
            return 6
        if self.mechanism.follows:
            return 5
        if self.request.pool_share is not None:
            return 4
        if any(isinstance(epoch.law, JointLaw) for epoch in self.epochs[:-1]):
            return 3
        return 2 if any(epoch.cut is not None for epoch in self.epochs) else 1

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that `to_dict` wrote; nothing is computed again."""
        require_known_format("the plan of a series", data.get("format"), FORMATS[-1])
        if data.get("format") not in FORMATS:
            raise ParameterError("plan", f"is not stored in format {FORMATS[-1]}")
        return cls(
            mechanism(data["mechanism"]),
            Request.from_dict(data["request"]),
            _epochs_from_list(data["epochs"]),
            data["subject"],
        )


def _releases(number: int) -> str:
    return f"{number} release{'' if number == 1 else 's'}"


def epochs_of(mechanism: Mechanism, request: Request) -> tuple[Epoch, ...]:
    """All epochs of a known horizon; none of an unknown one."""
    if request.horizon is None:
        return ()
    epochs: list[Epoch] = []
    covered = 0
    while covered < request.horizon:
        epoch = mechanism.epoch(request, len(epochs))
        if epoch is None:
            raise ParameterError("horizon", f"{mechanism.name} does not reach it")
        # Equal epochs share one object: there may be thousands of a single step.
        epochs.append(epochs[-1] if epochs and epoch == epochs[-1] else epoch)
        covered += epoch.steps
    return tuple(epochs)


def _epochs_to_list(epochs: Iterable[Epoch]) -> list[dict[str, Any]]:
    """The epochs in order; equal ones that follow each other are written once."""
    return [{"times": len(list(equal)), **epoch.to_dict()} for epoch, equal in groupby(epochs)]


def _epochs_from_list(data: Sequence[Mapping[str, Any]]) -> tuple[Epoch, ...]:
    """The epochs that `_epochs_to_list` wrote."""
    return tuple(epoch for entry in data for epoch in [Epoch.from_dict(entry)] * entry["times"])


def achieved(plan: Plan, objective: Objective | None = None) -> float:
    """The value of an objective for a plan; by default, of the plan's own objective.

    Where the horizon is unknown, over the first steps on which plans are judged.
    """
    aim = (objective or plan.request.minimise).aim(len(plan.predicted))
    # Between thresholds that differ, what is new has no error of its own: totals stand for it.
    totals = aim.totals or plan.mechanism.follows
    return aim.value(plan.predicted if totals else span_deviations(plan, aim))


def span_deviations(plan: Plan, aim: Aim) -> Floats:
    """The standard deviation of the change over the last `reach` steps, at each step.

    Rounding is taken to add 1/12 to the variance of each release that is rounded.
    """
    placed = list(_placed(plan, aim.steps))
    variances = [
        _span_variance(
            plan, step, None if step.place < aim.reach else placed[step.place - aim.reach]
        )
        for step in placed
    ]
    return np.asarray(np.sqrt(np.array(variances)), dtype=np.float64)


@dataclass(frozen=True)
class _Step:
    """A release within its epoch.

    Attributes:
        place: of the release, from 0 on.
        inside: its place in the epoch.
        epoch: in which it is.
        carried: the variance that finished epochs left in it.
        rounding: the variance of its rounding.
    """

    place: int
    inside: int
    epoch: Epoch
    carried: float
    rounding: float

    @property
    def epoch_start(self) -> int:
        """The place of its epoch's first release."""
        return self.place - self.inside

    def row(self) -> Floats:
        """The weights of the epoch's noises in it."""
        return self.epoch.factorisation.single_row(self.inside)

    def span_row(self, reach: int) -> Floats:
        """The same for what is new over some steps of the epoch."""
        return self.epoch.factorisation.span_row(self.inside, reach)

    def last_row(self) -> Floats:
        """The weights with which they stay in later epochs."""
        return self.epoch.factorisation.single_row(self.epoch.steps - 1)

    def variance(self, row: Floats) -> float:
        """Of a combination of the epoch's noises."""
        law = self.epoch.law
        if isinstance(law, JointLaw):
            return law.variance(np.rint(row).astype(np.int64))
        return self.epoch.single_law.variance() * float((row**2).sum())


def _placed(plan: Plan, steps: int) -> Iterator[_Step]:
    """Every release with its epoch."""
    place, carried = 0, 0.0
    for number in count():
        epoch = plan.epoch(number)
        whole = epoch.factorisation.integral_steps()
        for inside in range(min(epoch.steps, steps - place)):
            rounding = 0.0 if whole[inside] else ROUNDING_VARIANCE
            newest = _Step(place + inside, inside, epoch, carried, rounding)
            yield newest
        place += epoch.steps
        if place >= steps:
            return
        if plan.mechanism.adds_up:
            carried += newest.variance(newest.last_row())


def _span_variance(plan: Plan, later: _Step, earlier: _Step | None) -> float:
    """Of the difference of two releases; the earlier one may be before the first."""
    if earlier is None:
        return later.carried + later.variance(later.row()) + later.rounding
    rounding = later.rounding + earlier.rounding
    if later.epoch_start == earlier.epoch_start:
        return later.variance(later.span_row(later.place - earlier.place)) + rounding
    if not plan.mechanism.adds_up:
        return later.variance(later.row()) + earlier.variance(earlier.row()) + rounding
    left = earlier.variance(earlier.last_row())
    between = later.carried - earlier.carried - left
    since = earlier.variance(earlier.last_row() - earlier.row())
    return later.variance(later.row()) + between + since + rounding
