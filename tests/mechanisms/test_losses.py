"""What a broken promise costs whoever is concerned, for every mechanism, by its own noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.thresholds import FollowingBound
from graphveil.mechanisms.mechanism import Epoch, Measured, registered
from graphveil.mechanisms.optimised import Returning
from graphveil.mechanisms.planning.continuation import continued
from graphveil.noise.joint_laws import JointLaw, RangeNoise
from graphveil.noise.laws import Law
from graphveil.noise.zcdp import epsilon_of, rho_of
from graphveil.series.planner import Plan, compare, loss_beyond, losses_beyond, plan
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.sensitivity import Columns, Recent, Sensitivity, Shape
from graphveil.statistics.statistic import Statistic, statistic

STEPS = 6
DELTA = Fraction(1, 10**6)
BOUNDS = (
    HubBound(DegreeBound(4), (0,), checked=False),
    HubBound(DegreeBound(4), (2,), checked=False),
    HubBound(InOutBound(3, 2), (0, 1), checked=False),
)
UNDIRECTED = (
    statistic("edges"),
    statistic("high-degree", tau=2),
    statistic("components"),
    statistic("clusters", k=3),
    statistic("degree-ccdf"),
    statistic("nodes"),
    statistic("edges").recent(4),
    statistic("clusters", k=3).recent(4),
    statistic("degree-ccdf").recent(2),
)
DIRECTED = (
    statistic("edges"),
    statistic("high-out-degree", tau=1),
    statistic("components"),
    statistic("components").recent(3),
)


def planned(name: str, counted: Statistic, bound: HubBound) -> Plan | None:
    """The plan of a mechanism, if it has one."""
    member = registered()[name]
    threshold: Bound | None = bound.within if member.projects else None
    threshold = FollowingBound(100) if member.follows else threshold
    try:
        return plan(
            counted,
            bound,
            epsilon="1/2",
            delta=None if member.pure else DELTA,
            horizon=STEPS,
            mechanism=name,
            projection=threshold,
        )
    except ParameterError:
        return None


def cost_of(counted: Statistic, own: HubBound, matrix: Columns) -> int:
    """What somebody's change costs in a matrix, from the shape and Γ of that person alone."""
    most = sensitivity_under(counted, own).l1 * matrix.column_l1()
    return min(most, shape_under(counted, own).cost(matrix))


def by_its_noise(made: Plan, counted: Statistic, bound: HubBound, further: int) -> Fraction:
    """The loss, from the scale of the noise that would be drawn and what is measured."""
    return max(_by_its_noise(made, counted, own) for own in bound.exceeded(further))


def _by_its_noise(made: Plan, counted: Statistic, own: HubBound) -> Fraction:
    found, epochs = sensitivity_under(counted, own), made.epochs
    assert epochs is not None
    if made.mechanism.measured is Measured.RECENT:
        return _of_recent_noise(epochs[0], shape_under(counted, own), found)
    if made.mechanism.measured is Measured.TOTALS:
        return sum((found.static_l1 / _scale(each.law) for each in epochs), Fraction())
    (first, *others) = epochs
    if isinstance(first.law, JointLaw):
        return cost_of(counted, own, Returning()) / first.law.size
    if not made.mechanism.pure:
        squared = found.variation_squared * first.factorisation.column_l2_squared()
        return epsilon_of(squared / (2 * first.single_law.size), DELTA)
    if not others:
        return cost_of(counted, own, first.factorisation) / _scale(first.law)
    steepest = max(each.factorisation.column_l1() / _scale(each.law) for each in epochs)
    return found.l1 * steepest


def _of_recent_noise(epoch: Epoch, shape: Shape, found: Sensitivity) -> Fraction:
    """Of values in which somebody is for a window of steps: by blocks, or value by value."""
    assert isinstance(shape, Recent)
    if isinstance(epoch.law, JointLaw):
        blocks = 1 + -(-(shape.window - 1) // epoch.steps)
        in_range = isinstance(epoch.law, RangeNoise)
        return blocks * (shape.span if in_range else shape.height) / epoch.law.size
    if epoch.single_law.size_name == "scale":
        return shape.window * shape.height / _scale(epoch.law)
    return epsilon_of(found.l2_squared / (2 * epoch.single_law.size), DELTA)


def _scale(law: object) -> Fraction:
    assert isinstance(law, Law)
    assert law.size_name == "scale"
    return law.size


@pytest.mark.parametrize("name", sorted(registered()))
def test_the_loss_is_that_of_the_noise(name: str) -> None:
    """Never told smaller than the noise lets it be, and not much larger."""
    tried = 0
    for bound in BOUNDS:
        for counted in DIRECTED if bound.directed else UNDIRECTED:
            made = planned(name, counted, bound)
            if made is None:
                continue
            tried += 1
            if made.mechanism.projects:
                assert losses_beyond(made, counted, bound) == {}
                continue
            kept = by_its_noise(made, counted, bound, 0)
            assert kept <= Fraction(1, 2) * (1 + Fraction(1, 10**9)), (counted, bound)
            for further, loss in losses_beyond(made, counted, bound).items():
                real = by_its_noise(made, counted, bound, further)
                assert real <= loss * (1 + Fraction(1, 10**9)), (counted, bound, further)
                assert loss <= 2 * real + Fraction(1, 2), (counted, bound, further)
    assert tried, name


def test_known_numbers() -> None:
    """Edges, D = 10, H = 2 at ε = 1: (10 + h)/12; the sum matters to noise that returns."""
    bound, edges = HubBound(DegreeBound(10), (2,), checked=False), statistic("edges")
    plain = plan(edges, bound, epsilon=1, horizon=5, mechanism="sensdiff")
    assert losses_beyond(plain, edges, bound) == {
        1: Fraction(13, 12), 2: Fraction(14, 12), 5: Fraction(17, 12), 10: Fraction(22, 12),
        50: Fraction(62, 12), 100: Fraction(112, 12),
    }  # fmt: skip
    returning = plan(edges, bound, epsilon=1, horizon=5, mechanism="moves")
    # 2·max(rises, falls) = 2·max(10, h): nothing more is lost until more links fall than rise
    assert [loss_beyond(returning, edges, bound, more) for more in (0, 8, 10, 18)] == [
        1, 1, Fraction(12, 10), 2,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["moves", "optimised-moves"])
def test_a_series_that_went_on_tells_what_both_parts_cost(name: str) -> None:
    """Components, D = 10, H = 2: half as much again, for whoever keeps the promise and who not."""
    bound, counted = HubBound(DegreeBound(10), (2,), checked=False), statistic("components")
    made = plan(counted, bound, epsilon=1, horizon=5, mechanism=name)
    longer = continued(made, 2)
    assert (len(made.epochs), len(longer.epochs)) == (1, 2)
    for more, alone, both in ((0, 1, "3/2"), (2, Fraction(7, 6), "7/4"), (20, Fraction(8, 3), "4")):
        assert loss_beyond(made, counted, bound, more) == alone
        assert loss_beyond(longer, counted, bound, more) == Fraction(both)
    assert longer.request.epsilon == Fraction(3, 2)


def test_what_went_on_costs_more_than_its_first_part_says() -> None:
    """Two hubs more cost nothing where noise returns, but they do where it goes on."""
    bound, edges = HubBound(DegreeBound(10), (2,), checked=False), statistic("edges")
    longer = continued(plan(edges, bound, epsilon=1, horizon=5, mechanism="moves"), 2)
    assert longer.request.epsilon == Fraction(1167, 1000)
    assert loss_beyond(longer, edges, bound, 2) == Fraction(683, 512)


def test_high_degrees_are_charged_for_hubs_that_stop() -> None:
    """Where others may break the promise, 3 for a lost link, not 2."""
    high = statistic("high-degree", tau=3)
    checked, free = (HubBound(DegreeBound(10), (2,), checked=known) for known in (True, False))
    assert sensitivity_under(high, checked).l1 == 25
    assert sensitivity_under(high, free).l1 == 27
    made = plan(high, free, epsilon=1, horizon=4, mechanism="sensdiff")
    assert loss_beyond(made, high, free, 1) == Fraction(30, 27)


def test_of_two_kinds_of_hubs_the_dearer_one_is_told() -> None:
    """Out-degrees: 2 for somebody beside one in-hub more, and 1 beside one out-hub more."""
    high, free = statistic("high-out-degree", tau=2), HubBound(InOutBound(1, 5), (0, 1), False)
    assert sensitivity_under(high, free).l1 == 4
    made = plan(high, free, epsilon=1, horizon=4, mechanism="sensdiff")
    assert [sensitivity_under(high, own).l1 for own in free.exceeded(1)] == [6, 5]
    assert loss_beyond(made, high, free, 1) == Fraction(6, 4)


def test_a_promise_that_is_checked_has_no_losses_to_tell() -> None:
    edges = statistic("edges")
    for bound in (DegreeBound(4), HubBound(DegreeBound(4), (1,))):
        made = plan(edges, bound, epsilon=1, horizon=4)
        assert losses_beyond(made, edges, bound) == {}


@pytest.mark.parametrize("epsilon", ["1/100", "1", "8"])
def test_there_and_back_between_rho_and_epsilon(epsilon: str) -> None:
    """Rounded to the safe side both ways, and by almost nothing."""
    wanted = Fraction(epsilon)
    back = epsilon_of(rho_of(wanted, DELTA), DELTA)
    assert abs(back - wanted) < wanted * Fraction(1, 10**6)
    assert epsilon_of(rho_of(wanted, DELTA) * 4, DELTA) > wanted * 2


PLAIN = (statistic("edges"), statistic("high-degree", tau=2))


@pytest.mark.parametrize("counted", [*PLAIN, statistic("edges", window=4)], ids=str)
def test_whoever_keeps_the_promise_loses_what_was_promised(counted: Statistic) -> None:
    """Of every mechanism that admits the request, the Gaussian ones included."""
    projection = DegreeBound(3) if counted in PLAIN else None
    found = compare(
        counted, DegreeBound(6), epsilon="1/3", delta="1e-6", horizon=6, projection=projection
    )
    admitted = [each.plan for each in found if each.plan is not None]
    assert len(admitted) >= 3
    for made in admitted:
        loss = made.mechanism.loss(made.request, made.request)
        assert loss == pytest.approx(Fraction(1, 3)), made.mechanism.name
