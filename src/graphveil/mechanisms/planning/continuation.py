"""Going on: a series for more releases than were planned, or with fresh noise half-way.

What was published stays, and so do the epochs whose noise was drawn. The epochs that follow are
chosen such that all epochs together cost at most the ε of the series plus a price that is stated
beforehand, which may be 0 (`docs/mechanisms.md#the-price-of-going-on`).

An epoch charges for what a person changes at its own steps. A rise in one and the fall that
belongs to it in another may be charged in full twice, so the price is computed from all epochs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from math import ceil, lcm

from graphveil.errors import ParameterError
from graphveil.mechanisms.factorisations.bordered import single_step
from graphveil.mechanisms.mechanism import Epoch, Measured, Mechanism, Request, registered
from graphveil.mechanisms.optimised import Returning
from graphveil.mechanisms.planning.plan import TIE, Plan, epochs_of
from graphveil.noise.joint_laws import JointLaw, MovesNoise
from graphveil.noise.laws import DiscreteLaplace
from graphveil.statistics.sensitivity import Columns

READABLE = 1000  # parts of an ε, to which prices are rounded up
FINENESS = 1024  # into how many parts an ε is divided where the strongest that fits is sought


def extended(plan: Plan, releases: int, more_steps: int, price: Fraction | None = None) -> Plan:
    """The same series for more releases.

    If no release was made yet, no noise was drawn, and the series is planned anew for all of them.

    Args:
        plan: of the series so far.
        releases: how many were made.
        more_steps: how many there shall be beyond the horizon.
        price: what may be paid for them; None for the price at which the noise stays as large.
    """
    _require_more(plan, more_steps)
    if releases:
        return continued(plan, more_steps, price)
    if price:
        raise _needless(plan)
    assert plan.request.horizon is not None, "required above"
    longer = plan.request.lasting(plan.request.horizon + more_steps)
    return Plan.of(plan.mechanism, longer, plan.subject)


def continued(plan: Plan, more_steps: int, price: Fraction | None = None) -> Plan:
    """The same series for more releases than were planned.

    The old epochs stay as they are; new ones follow. Noise on differences that is made for any
    change of size Γ goes on with its full ε at no price. What was made for a whole horizon, and
    noise on totals, has a price, which is added to the ε of the series.
    Guarantees: docs/mechanisms.md#the-price-of-going-on.

    Args:
        plan: of the series so far.
        more_steps: how many releases there shall be beyond the horizon.
        price: what may be paid for them; None for the price at which the noise stays as large.
    """
    horizon = _require_more(plan, more_steps)
    missing = horizon + more_steps - sum(epoch.steps for epoch in plan.epochs)
    longer = replace(plan, request=plan.request.lasting(horizon + more_steps))
    if missing <= 0 and price:
        raise _needless(plan)
    if missing <= 0:
        return longer
    return _followed(longer, plan.epochs, missing, price)


def renewed(plan: Plan, releases: int, price: Fraction | None = None) -> Plan:
    """The same series with fresh noise after so many releases.

    The epoch in which they end is cut there, and new ones follow up to the horizon
    (`docs/mechanisms.md#adoption`). The plan stays as it is where an epoch has just ended, so
    that no noise was drawn for what follows, and where the rest of its noise is drawn anew from
    its own law.

    Args:
        plan: of the series so far.
        releases: how many were made.
        price: what may be paid for it; None for the price at which the noise stays as large.
    """
    number, made = plan.place_of(releases)
    if made in (0, plan.epoch(number).steps) or plan.epoch(number).resumes:
        if price:
            raise _needless(plan)
        return plan
    if not plan.mechanism.adds_up:
        raise ParameterError("mechanism", f"{plan.mechanism.name} cannot draw noise half-way")
    past = tuple(plan.epoch(earlier) for earlier in range(number))
    retained = (*past, replace(plan.epoch(number), cut=made))
    if plan.request.horizon is None:
        return replace(plan, epochs=retained)
    left = plan.request.horizon - releases
    return _followed(plan, retained, left, price) if left else replace(plan, epochs=retained)


def _require_more(plan: Plan, more_steps: int) -> int:
    """The horizon of a plan that can have more steps."""
    if isinstance(more_steps, bool) or not isinstance(more_steps, int) or more_steps < 1:
        raise ParameterError("more_steps", "must be a whole number of at least 1")
    if plan.request.horizon is None:
        raise ParameterError("horizon", "is unknown, so this plan continues by itself")
    return plan.request.horizon


def _needless(plan: Plan) -> ParameterError:
    return ParameterError(
        "price", f"{plan.mechanism.name} goes on for nothing here", hint="Leave the price out."
    )


def _followed(plan: Plan, retained: tuple[Epoch, ...], steps: int, price: Fraction | None) -> Plan:
    """The plan with its retained epochs, followed by new ones for so many steps, for a price."""
    if price is not None and price < 0:
        raise ParameterError("price", "must not be negative")
    if not plan.mechanism.pure or not (plan.mechanism.adds_up or plan.mechanism.needs_horizon):
        return _followed_freely(plan, retained, steps, price)
    follow = _Differences.follow if plan.mechanism.adds_up else _follow_totals
    paid, new = follow(plan, retained, steps, price)
    request = replace(plan.request, epsilon=plan.request.epsilon + paid)
    return replace(plan, request=request, epochs=retained + new)


def _followed_freely(
    plan: Plan, retained: tuple[Epoch, ...], steps: int, price: Fraction | None
) -> Plan:
    """More epochs of a mechanism whose guarantee holds for any number of releases.

    Gaussian noise on differences is one, with its full ρ in every epoch.
    """
    if plan.mechanism.needs_horizon:
        raise ParameterError(
            "horizon",
            f"{plan.mechanism.name} cannot go past the releases it was planned for",
            hint="Open a new study, whose ε and δ add to those of this one.",
        )
    if price:
        raise _needless(plan)
    new = epochs_of(plan.mechanism, plan.request.lasting(steps))
    return replace(plan, epochs=retained + new)


def _follow_totals(
    plan: Plan, retained: tuple[Epoch, ...], steps: int, price: Fraction | None
) -> tuple[Fraction, tuple[Epoch, ...]]:
    """The price, and epochs on the totals of the new steps, whose ε is added in full.

    Without a given price, each release costs as much as one of the last epoch.
    """
    if price is None:
        last = loss(plan.mechanism, plan.request, retained[-1:])
        price = last * steps / retained[-1].steps
    if price == 0:
        raise ParameterError(
            "price",
            f"must be above 0: after {plan.mechanism.name}, one person may change every later "
            "total once more",
        )
    request = replace(plan.request.lasting(steps), epsilon=price)
    reason = plan.mechanism.refusal(request)
    if reason is not None:
        raise ParameterError("price", f"{plan.mechanism.name} {reason}")
    return price, epochs_of(plan.mechanism, request)


@dataclass(frozen=True, eq=False)
class _Differences:
    """Noise on differences that goes on, and what all of it costs.

    Attributes:
        request: of the series so far.
        retained: the charges of its retained epochs.
    """

    request: Request
    retained: tuple[Charge, ...]

    @classmethod
    def follow(
        cls, plan: Plan, retained: tuple[Epoch, ...], steps: int, price: Fraction | None
    ) -> tuple[Fraction, tuple[Epoch, ...]]:
        """The price, and the epochs with the least mean error for it."""
        here = cls(plan.request, charges(retained))
        paid = here.usual_price() if price is None else price
        request = plan.request.lasting(steps)
        offered = [
            fitting
            for member in _members(plan.mechanism, request)
            if (fitting := here.strongest(epochs_of(member, request), paid)) is not None
        ]
        if not offered:
            least = float(here.usual_price())
            raise ParameterError(
                "price",
                f"is too small for {plan.mechanism.name} to go on",
                hint=f"With {least:.4g} it goes on with noise of its size.",
            )
        return paid, _best(plan, retained, offered)

    def usual_price(self) -> Fraction:
        """The price at which every difference has the noise of SensDiff with the ε of the series.

        If the last epoch already has more noise than that, the noise of the last epoch counts
        instead. Rounded up to thousandths of the ε, so that people can read it.
        """
        epsilon, change = self.request.epsilon, self.request.sensitivity.l1
        rate = min(epsilon / change, self.retained[-1].single)
        more = max(self._loss(Charge(single_step(), rate)) - epsilon, Fraction())
        return epsilon * ceil(READABLE * more / epsilon) / READABLE

    def strongest(self, epochs: tuple[Epoch, ...], price: Fraction) -> tuple[Epoch, ...] | None:
        """Epochs with the least noise that fits the price; None if none does.

        They fit it even if more like them follow: what is paid once is not paid again.
        """
        allowed = self.request.epsilon + price
        new = [replace(each, times=2) for each in charges(epochs)]

        def exceeds(parts: int) -> bool:
            return self._loss(*(each.scaled(Fraction(parts, FINENESS)) for each in new)) > allowed

        most = FINENESS * allowed // self.request.epsilon
        parts = bisect_right(range(most), False, key=lambda fewer: exceeds(fewer + 1))
        if parts == 0:
            return None
        return tuple(_with_rate(each, Fraction(parts, FINENESS)) for each in epochs)

    def _loss(self, *new: Charge) -> Fraction:
        return loss_on_differences(self.request, (*self.retained, *new))


def _with_rate(epoch: Epoch, factor: Fraction) -> Epoch:
    """The same epoch with noise for another ε."""
    return replace(epoch, law=DiscreteLaplace(epoch.law.size / factor))


def _members(own: Mechanism, request: Request) -> Sequence[Mechanism]:
    """What may follow: the mechanism itself, unless it was made for its whole horizon.

    Then all that measure differences with noise by noise; none that returns to zero again.
    """
    if not own.whole:
        return (own,)
    # By name: which of them was imported first must not decide between equals.
    members = (
        each
        for _, each in sorted(registered().items())
        if each.pure and each.adds_up and each.refusal(request) is None
    )
    return [each for each in members if not isinstance(_first_law(each, request), JointLaw)]


def _first_law(member: Mechanism, request: Request) -> object:
    first = member.epoch(request, 0)
    return first and first.law


def _best(
    plan: Plan, retained: tuple[Epoch, ...], offered: Sequence[tuple[Epoch, ...]]
) -> tuple[Epoch, ...]:
    """Those with the least mean error; of equals the first, whatever the last bits say."""
    errors = [_mean_error(plan, retained, each) for each in offered]
    return next(
        each for each, error in zip(offered, errors, strict=True) if error <= TIE * min(errors)
    )


def _mean_error(plan: Plan, retained: tuple[Epoch, ...], new: tuple[Epoch, ...]) -> float:
    """The mean standard deviation at the new steps."""
    before, horizon = sum(epoch.steps for epoch in retained), plan.request.horizon
    assert horizon is not None, "only a known one is reached"
    return sum(replace(plan, epochs=retained + new).standard_deviations(horizon)[before:])


@dataclass(frozen=True, eq=False)
class Remembered:
    """The columns of a matrix, with a cache of the distances that were computed."""

    matrix: Columns
    _pairs: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    def column_l1(self) -> int:
        """The largest column sum."""
        return self.matrix.column_l1()

    def pair_l1(self, rises: int, falls: int) -> int:
        """The largest distance of two columns, as the matrix itself has it."""
        distance = self._pairs.get((rises, falls))
        if distance is None:
            distance = self._pairs[rises, falls] = self.matrix.pair_l1(rises, falls)
        return distance


@dataclass(frozen=True, eq=False)
class Charge:
    """Equal epochs, as they are charged for.

    Attributes:
        matrix: what each of them measures of the changes at its steps.
        rate: what a distance of 1 in that costs.
        times: how many there are.
    """

    matrix: Columns
    rate: Fraction
    times: int = 1

    @property
    def single(self) -> Fraction:
        """What a change by 1 at a single step costs, where it costs most."""
        return self.rate * self.matrix.column_l1()

    def scaled(self, factor: Fraction) -> Charge:
        """The same with less noise, or with more: so many times the rate."""
        return replace(self, rate=factor * self.rate)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The block-diagonal matrix of all epochs, each block times a whole number: its weight."""

    blocks: tuple[tuple[int, Charge], ...]

    def column_l1(self) -> int:
        """The longest column of all blocks."""
        return self._longest()[0]

    def pair_l1(self, rises: int, falls: int) -> int:
        """Both columns in one block; or the longest of one block and of another."""
        within = max(weight * each.matrix.pair_l1(rises, falls) for weight, each in self.blocks)
        most, second = self._longest()
        return max(within, max(rises, falls) * most + min(rises, falls) * second)

    def _longest(self) -> tuple[int, int]:
        """The longest columns of two different blocks; 0 where there is one block only."""
        lengths = [
            weight * each.matrix.column_l1()
            for weight, each in self.blocks
            for _ in range(min(each.times, 2))
        ]
        most, second = (*sorted(lengths, reverse=True), 0)[:2]
        return most, second


def charges(epochs: Iterable[Epoch]) -> tuple[Charge, ...]:
    """What each epoch charges; equal ones that follow each other are counted."""
    return tuple(
        Charge(_measured(epoch), epoch.law.privacy_loss, len(list(equal)))
        for epoch, equal in groupby(epochs)
    )


def _measured(epoch: Epoch) -> Columns:
    """The matrix behind the norm of its law; that of noise which returns to zero has a sum more."""
    return Returning() if isinstance(epoch.law, MovesNoise) else Remembered(epoch.factorisation)


def loss_on_differences(request: Request, charged: Sequence[Charge]) -> Fraction:
    """ε of all epochs together, for noise on differences.

    Guarantees: no less than Σ ‖C_e·d_e‖/b_e over the epochs e, for every change d of one person
        (`docs/mechanisms.md#the-price-of-going-on`).
    """
    unit = lcm(*(each.rate.denominator for each in charged))
    blocks = tuple((int(each.rate * unit), each) for each in charged)
    return Fraction(request.cost(_Blocks(blocks)), unit)


def loss_on_totals(mechanism: Mechanism, request: Request, charged: Sequence[Charge]) -> Fraction:
    """ε of all epochs together, for noise on totals: one person may do its worst in each.

    Guarantees: docs/mechanisms.md#the-price-of-going-on.
    """
    height = height_of_totals(mechanism, request)
    return sum((height * each.rate * each.times for each in charged), Fraction())


def height_of_totals(mechanism: Mechanism, request: Request) -> int:
    """By how much one person can change each total that is measured."""
    if mechanism.measured is Measured.TOTALS:
        return request.sensitivity.static_l1
    return request.known_projected_l1()


def loss(mechanism: Mechanism, request: Request, epochs: Iterable[Epoch]) -> Fraction:
    """ε of all epochs of a series of pure ε."""
    assert mechanism.pure, "Gaussian noise is charged in zCDP"
    charged = charges(epochs)
    if mechanism.adds_up:
        return loss_on_differences(request, charged)
    return loss_on_totals(mechanism, request, charged)
