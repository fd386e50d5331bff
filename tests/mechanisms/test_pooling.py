"""Pools: against every set of series, and against what the planner says of the plans that come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil import DegreeBound, HubBound, Plan, best_plans, best_shares, plan
from graphveil.errors import ParameterError
from graphveil.graph.promises import InOutBound
from graphveil.mechanisms.gaussian import Gaussian
from graphveil.mechanisms.mechanism import Request
from graphveil.mechanisms.planning import shares
from graphveil.mechanisms.planning.plan import achieved
from graphveil.mechanisms.planning.pooling import (
    PAYS,
    ShareCandidate,
    Split,
    _Trial,
    best_pool,
    best_split,
)
from graphveil.mechanisms.planning.shares import at_another_price
from graphveil.noise.zcdp import epsilon_of, rho_of

DELTA = Fraction(1, 10**6)
NAMES = ("nodes", "edges", "triangles", "components", "degree-ccdf")
SIZES = (700, 1200, 900, 300, 400)
errors = st.floats(0.1, 10)
series = st.lists(st.tuples(errors, errors, st.sampled_from(["both", "alone", "pooled"])),
                  min_size=1, max_size=5)  # fmt: skip
Given = Sequence[tuple[float, float, str]]


def candidates(given: Given) -> list[ShareCandidate]:
    """Errors a/ε outside of a pool, and b/√part in it."""
    return [
        ShareCandidate(
            1.0,
            None if kind == "pooled" else lambda epsilon, a=a: a / float(epsilon),  # type: ignore[misc]
            None if kind == "alone" else lambda part, b=b: b / sqrt(part),  # type: ignore[misc]
        )
        for a, b, kind in given
    ]


def least(given: Given, members: frozenset[int], total: float) -> float:
    """The least error with this pool, by formula and a fine grid of its ε."""
    inside = sum(b ** (2 / 3) for place, (_, b, _) in enumerate(given) if place in members) ** 1.5
    outside = sum(sqrt(a) for place, (a, _, _) in enumerate(given) if place not in members) ** 2
    if not inside:
        return float(outside / total)
    if not outside:
        return float(inside)
    whole = float(rho_of(Fraction(total), DELTA))
    found = inf
    for step in range(1, 100):
        pool = total * step / 100
        part = float(rho_of(Fraction(pool).limit_denominator(10**6), DELTA)) / whole
        found = min(found, inside / sqrt(part) + outside / (total - pool))
    return found


def possible(given: Given) -> list[frozenset[int]]:
    """Every pool that has all who need it, and none who cannot."""
    bound = {place for place, (_, _, kind) in enumerate(given) if kind == "pooled"}
    free = [place for place, (_, _, kind) in enumerate(given) if kind == "both"]
    return [
        frozenset({*bound, *more})
        for number in range(len(free) + 1)
        for more in combinations(free, number)
    ]


def error(given: Given, split: Split, total: Fraction) -> float:
    if split.members:
        part = rho_of(split.pool, DELTA) / rho_of(total, DELTA)
    return sum(
        b / sqrt(split.shares[place] * part) if place in split.members else a / split.shares[place]
        for place, (a, b, _) in enumerate(given)
    )


@given(series, st.sampled_from([Fraction(1, 2), Fraction(2)]))
@settings(max_examples=60, deadline=None)
def test_no_other_set_of_series_is_better_in_a_pool(given: Given, total: Fraction) -> None:
    split = best_pool(total, DELTA, candidates(given))
    best = min(least(given, members, float(total)) for members in possible(given))
    assert error(given, split, total) <= 1.012 * PAYS * best
    outside = [s for place, s in enumerate(split.shares) if place not in split.members]
    assert sum(outside, split.pool) == total
    inside = [s for place, s in enumerate(split.shares) if place in split.members]
    assert not inside or sum(inside) == 1


def test_who_gains_nothing_has_an_epsilon_of_its_own() -> None:
    given = [(1.0, 5.0, "both"), (9.0, 1.0, "both"), (9.0, 1.0, "both")]
    split = best_pool(Fraction(1), DELTA, candidates(given))
    assert split.members == {1, 2}
    assert split.shares[1:] == (Fraction(1, 2), Fraction(1, 2))
    assert split.pool + split.shares[0] == 1


def test_of_nearly_equal_splits_the_one_without_a_pool_is_taken() -> None:
    given = [(1.0, 1.0, "both")]
    assert best_pool(Fraction(1), DELTA, candidates(given)).members == frozenset()
    given = [(1.0, 0.985, "both")]
    assert best_pool(Fraction(1), DELTA, candidates(given)).members == {0}


def trial(total: Fraction, *given: tuple[float, float, float, str]) -> _Trial:
    """Of series with a weight, and errors a/ε and b/√part; the least error, however it reads."""
    plain = candidates([each[1:] for each in given])
    weighed = (
        ShareCandidate(w, c.alone, c.pooled) for (w, *_), c in zip(given, plain, strict=True)
    )
    return _Trial(total, DELTA, tuple(weighed), 1.0)


def test_who_gains_most_is_asked_first_and_who_must_is_in_every_pool() -> None:
    given = [(1, 5, "both"), (9, 1, "both"), (4, 1, "both"), (2, 2, "pooled"), (1, 1, "alone")]
    tried = trial(Fraction(1), *((1.0, *each) for each in given))
    assert list(tried.pools()) == [{3}, {3, 1}, {3, 1, 2}, {3, 1, 2, 0}]


def test_reluctance_is_by_weighed_errors_in_and_out_of_a_pool() -> None:
    tried = trial(Fraction(1, 2), (2.0, 3.0, 4.0, "both"))
    assert tried._in_pool(0) == 8
    assert tried._reluctance(0) == pytest.approx(16 / 12)  # 8^(4/3) by 2·3/½


def test_a_pool_is_split_from_the_total_as_one_series_and_then_by_its_members() -> None:
    total = Fraction(3, 2)
    tried = trial(total, (2.0, 9.0, 4.0, "both"), (3.0, 2.0, 7.0, "both"), (1.0, 9.0, 27.0, "both"))
    whole = rho_of(total, DELTA)
    found = tried.split(frozenset({0, 2}))
    together = (4 + 9) ** 1.5  # of 8 and of 27
    curves = [
        lambda pool: together / sqrt(rho_of(pool, DELTA) / whole),
        lambda epsilon: 2 / float(epsilon),
    ]
    pool, alone = best_split(total, curves, [1.0, 3.0], 1.0)
    first, last = best_split(Fraction(1), [_root(4.0), _root(27.0)], [2.0, 1.0], 1.0)
    assert found == Split(pool, frozenset({0, 2}), (first, alone, last))
    assert float(first) == pytest.approx(4 / 13, abs=0.01)


def _root(size: float) -> Callable[[Fraction], float]:
    return lambda part: size / sqrt(part)


def test_without_members_all_is_split_among_single_series() -> None:
    tried = trial(Fraction(1), (1.0, 1.0, 1.0, "both"), (1.0, 4.0, 1.0, "both"))
    found = tried.split(frozenset())
    assert found.pool == 0
    assert not found.members
    assert [float(share) for share in found.shares] == pytest.approx([1 / 3, 2 / 3], abs=0.002)
    assert tried._shares(()) == ()


def test_each_member_of_a_pool_has_its_own_share_however_many_there_are() -> None:
    """Places 8 and 1 are in this order in a set, and in the other one in a split."""
    given = [(1.0, 1.0, 8.0 if place == 8 else 1.0, "both") for place in range(9)]
    found = trial(Fraction(1), *given).split(frozenset({8, 1}))
    assert float(found.shares[1]) == pytest.approx(1 / 5, abs=0.01)
    assert float(found.shares[8]) == pytest.approx(4 / 5, abs=0.01)


def test_the_error_of_a_split_is_the_weighed_sum_in_and_out_of_the_pool() -> None:
    total, pool = Fraction(2), Fraction(1, 2)
    tried = trial(total, (2.0, 9.0, 4.0, "both"), (3.0, 5.0, 7.0, "both"), (1.0, 1.0, 6.0, "both"))
    part = rho_of(pool, DELTA) / rho_of(total, DELTA)
    assert tried._part(pool) == part
    split = Split(pool, frozenset({0, 2}), (Fraction(1, 4), Fraction(3, 2), Fraction(3, 4)))
    inside = 2 * 4 / sqrt(part / 4) + 6 / sqrt(part * 3 / 4)
    assert tried.error(split) == pytest.approx(inside + 3 * 5 / 1.5)
    alone = Split(Fraction(), frozenset(), (Fraction(1, 2), Fraction(1, 2), Fraction(1)))
    assert tried.error(alone) == pytest.approx(2 * 18 + 3 * 10 + 1)


def plans(number: int, horizon: int) -> list[Plan]:
    return [plan(name, 10, epsilon=1, horizon=horizon) for name in NAMES[:number]]


def summed(made: Sequence[Plan]) -> float:
    return sum(achieved(each) / size for each, size in zip(made, SIZES, strict=False))


def spent(made: Sequence[Plan]) -> tuple[Fraction, Fraction]:
    """ε and δ of all plans: ρ is summed and converted once, all else is added."""
    inside = [each.request for each in made if each.request.pool_share is not None]
    alone = [each.request for each in made if each.request.pool_share is None]
    epsilon = sum((each.epsilon for each in alone), Fraction())
    delta = sum((each.delta or Fraction() for each in alone), Fraction())
    if inside:
        (risk,) = {each.delta for each in inside}
        assert risk is not None
        epsilon += epsilon_of(sum((each.rho for each in inside), Fraction()), risk)
        delta += risk
    return epsilon, delta


@pytest.mark.parametrize(("number", "horizon"), [(2, 8), (4, 100), (5, 20), (5, 100)])
def test_plans_cost_no_more_than_the_total_and_are_never_worse_than_without_a_delta(
    number: int, horizon: int
) -> None:
    made = plans(number, horizon)
    found = best_plans("3/2", made, SIZES[:number], delta=DELTA)
    epsilon, delta = spent(found)
    assert epsilon <= Fraction(3, 2)
    assert delta in (0, DELTA)
    pure = [
        at_another_price(*each)
        for each in zip(made, best_shares("3/2", made, SIZES[:number]), strict=True)
    ]
    assert summed(found) <= 1.002 * summed(pure)
    if (number, horizon) == (5, 100):
        assert summed(found) < 0.97 * summed(pure)
        assert epsilon > Fraction(149, 100)  # nothing is left over


def test_who_is_alone_in_a_pool_has_an_epsilon_and_delta_of_its_own() -> None:
    made = [
        plan("nodes", 10, epsilon=1, horizon=1),
        plan("degree-histogram", 10, epsilon=1, horizon=40),
    ]
    found = best_plans(1, made, [50, 5000], delta=DELTA)
    assert [each.request.pool_share for each in found] == [None, None]
    assert [each.request.delta for each in found] == [None, DELTA]
    assert spent(found) == (Fraction(1), DELTA)


def test_only_noise_for_the_same_numbers_may_take_over() -> None:
    asked = {"epsilon": 1, "horizon": 9, "projection": DegreeBound(3)}
    for mechanism, others in [
        ("sensdiff", "gaussian"),
        ("range-projection", "gaussian-projection"),
    ]:
        made = plan("edges", 5, mechanism=mechanism, **asked)  # type: ignore[arg-type]
        assert [each.name for each in shares._gaussian_members(made, DELTA)] == [others]


@dataclass(frozen=True)
class Louder(Gaussian):
    """Gaussian noise of twice the size."""

    def change_squared(self, request: Request) -> int:
        return 4 * super().change_squared(request)


@pytest.mark.parametrize("members", [[Gaussian(), Louder()], [Louder(), Gaussian()]])
def test_the_gaussian_noise_with_the_least_error_is_taken(
    members: list[Gaussian], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "_gaussian_members", lambda plan, delta: members)
    made = plan("edges", 5, epsilon=1, horizon=9, mechanism="sensdiff")
    assert shares._gaussian(made, Fraction(1), DELTA, None).mechanism == Gaussian()


def test_weights_matter_in_a_pool_too() -> None:
    made = plans(4, 100)
    light = best_plans(1, made, SIZES[:4], delta=DELTA)
    heavy = best_plans(1, made, SIZES[:4], [9, 1, 1, 1], delta=DELTA)
    parts = [each[0].request.pool_share for each in (light, heavy)]
    assert parts[0] is not None
    assert parts[1] is not None
    assert parts[1] > 2 * parts[0]


def test_a_plan_in_a_pool_says_so_and_is_kept_as_it_is() -> None:
    (first, *_) = best_plans(1, plans(4, 100), SIZES[:4], delta=DELTA)
    assert first.budget.endswith("of a pool of ε = 1, δ = 0.000001")
    stored = first.to_dict()
    assert stored["format"] == 4
    assert Plan.from_dict(stored) == first


@pytest.mark.parametrize("bad", [0, "-1/2", "1.01", 2])
def test_a_share_of_a_pool_is_above_0_and_at_most_1(bad: str | int) -> None:
    with pytest.raises(ParameterError, match="pool: a share of it must be above 0 and at most 1"):
        plan("edges", 5, epsilon=1, delta="1e-6", horizon=4, pool_share=bad)


def test_pure_noise_has_no_share_of_a_pool() -> None:
    with pytest.raises(ParameterError, match="sensdiff has an ε of its own: only Gaussian"):
        plan("edges", 5, epsilon=1, delta="1e-6", horizon=4, pool_share="1/2", mechanism="sensdiff")
    with pytest.raises(ParameterError, match="needs a δ"):
        plan("edges", 5, epsilon=1, horizon=4, pool_share="1/2", mechanism="gaussian")


def test_what_is_lost_beyond_the_promise_is_stated_in_rho() -> None:
    from graphveil.series.planner import losses_beyond, rhos_beyond
    from graphveil.statistics.statistic import statistic

    bound = HubBound(DegreeBound(5), (1,), checked=False)
    asked = {"epsilon": 1, "delta": DELTA, "horizon": 9, "mechanism": "gaussian"}
    edges = statistic("edges")
    pooled, alone = (plan(edges, bound, pool_share=share, **asked) for share in ("1/4", None))  # type: ignore[arg-type]
    rhos = rhos_beyond(pooled, edges, bound)
    assert rhos_beyond(alone, edges, bound) == {}
    # Five links are gained and one or two are lost: V² is 29 instead of 26.
    assert rhos[1] == pooled.request.rho * Fraction(29, 26)
    assert losses_beyond(pooled, edges, bound)[1] == epsilon_of(rhos[1], DELTA)
    assert epsilon_of(4 * rhos[1], DELTA) == losses_beyond(alone, edges, bound)[1]


def test_of_two_kinds_of_hubs_the_dearer_is_stated() -> None:
    from graphveil.series.planner import rhos_beyond
    from graphveil.statistics.statistic import statistic

    counted, bound = statistic("high-out-degree", tau=2), HubBound(InOutBound(1, 5), (0, 1), False)
    made = plan(counted, bound, epsilon=1, delta=DELTA, horizon=9, mechanism="gaussian",
                pool_share="1/4")  # fmt: skip
    # V² is 8 as promised, 18 with one in-hub more, and 13 with one out-hub more.
    assert rhos_beyond(made, counted, bound)[1] == made.request.rho * Fraction(18, 8)
