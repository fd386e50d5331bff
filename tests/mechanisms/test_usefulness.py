"""Useful, rough, drowned: the words follow from predicted noise and a public guess alone."""

from __future__ import annotations

import pytest

from graphveil import DegreeBound, plan, statistic
from graphveil.errors import ParameterError
from graphveil.mechanisms.planning.usefulness import Judgement, Usefulness, percent


@pytest.mark.parametrize(
    ("std", "word"),
    [
        (0.0, Usefulness.USEFUL),
        (100.0, Usefulness.USEFUL),
        (100.1, Usefulness.ROUGH),
        (250.0, Usefulness.ROUGH),
        (250.1, Usefulness.TOO_NOISY),
        (9999.0, Usefulness.TOO_NOISY),
    ],
)
def test_a_tenth_is_useful_a_quarter_rough_and_more_drowned(std: float, word: Usefulness) -> None:
    found = Judgement(std, 1000)
    assert found.word is word
    assert found.too_noisy == (word is Usefulness.TOO_NOISY)


@pytest.mark.parametrize("expected", [0, -5, True, 1.5, "7", 10**15 + 1])
def test_a_size_is_a_whole_number(expected: int) -> None:
    with pytest.raises(ParameterError, match="expected: must be a whole number"):
        Judgement(1.0, expected)


def test_the_smallest_and_the_largest_size() -> None:
    assert Judgement(1.0, 1).share == 1
    assert Judgement(1.0, 10**15).share == 1e-15


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.004, "0.4%"), (0.07, "7.0%"), (0.1, "10%"), (0.152, "15%"), (12.5, "1,250%")],
)
def test_percent_has_a_decimal_only_where_it_is_small(share: float, text: str) -> None:
    assert percent(share) == text


def test_it_reads_well() -> None:
    said = "expected about 4,000; predicted error ±38.2 (1.0%): useful"
    assert str(Judgement(38.21, 4000)) == said
    assert str(Judgement(5000, 4000)).endswith("±5,000 (125%): too noisy")


def test_a_plan_is_judged_by_its_last_release() -> None:
    made = plan(statistic("edges"), DegreeBound(10), epsilon="1", horizon=5)
    assert made.judged(100).std == made.last_std > made.predicted[0]
    assert (made.warning(100) is not None) == made.judged(100).too_noisy
