"""What users must specify, and the statistic that results from it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from graphveil.errors import ParameterError
from graphveil.statistics.patterns import PatternCount, Stars
from graphveil.statistics.statistic import Statistic, known_parameters, registered, statistic


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_statistic_comes_back_from_the_texts_of_its_parameters(name: str) -> None:
    for example in registered()[name].examples():
        told = example.written()
        assert statistic(name, **told) == example


def test_values_are_taken_as_they_are() -> None:
    assert statistic("stars", k=3) == statistic("stars", k="3") == Stars(3)
    wanted = next(iter(PatternCount.examples()))
    assert isinstance(wanted, PatternCount)
    assert statistic("pattern", pattern=wanted.pattern) == wanted


def test_what_is_said_of_parameters_does_not_depend_on_the_order_of_imports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = known_parameters()
    backwards = dict(reversed(registered().items()))
    monkeypatch.setattr("graphveil.statistics.statistic.registered", lambda: backwards)
    assert known_parameters() == known
    assert list(known_parameters()) == list(known)


@pytest.mark.parametrize("given", ["three", "2.5", "", True, 2.5])
def test_what_is_no_whole_number_is_refused_by_the_statistic(given: object) -> None:
    told = f"must be a whole number of at least 2, not {given!r}"
    with pytest.raises(ParameterError, match=re.escape(told)):
        statistic("stars", k=given)


def test_the_command_line_learns_every_parameter() -> None:
    known = known_parameters()
    flags = {name: each.flags for name, each in known.items()}
    steps = {"window": ("--window",), "newest": ("--newest",)}
    counts = {"tau": ("--tau",), "k": ("--k",), "pattern": ("--edges", "--pattern")}
    assert flags == counts | steps | {"levels": ("--levels",)}
    assert {each.metavar for each in known.values()} == {"N", "N,N,…", "EDGES"}
    assert all(each.name == name and each.help.endswith(".") for name, each in known.items())


def test_a_parameter_that_several_statistics_have_is_explained_for_each() -> None:
    known = known_parameters()["k"].help
    assert "leaves of the stars" in known
    assert known.count("people in a cluster") == 1


def test_what_has_a_default_may_be_left_out() -> None:
    assert statistic("clusters") == statistic("clusters", k=2)
    assert statistic("clusters").defaults() == {"k": 2}
    assert statistic("stars", k=2).defaults() == {}
    with pytest.raises(ParameterError, match="k: is needed by 'stars'"):
        statistic("stars")


def test_a_plain_field_is_a_whole_number() -> None:
    @dataclass(frozen=True)
    class Pairs(Statistic):
        apart: int

    (found,) = Pairs.parameters()
    assert (found.name, found.flags, found.parse("4")) == ("apart", ("--apart",), 4)
