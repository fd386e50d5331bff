"""A registry: one member per name, found in every module of its package, or refused with help."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.mechanisms import mechanism as mechanism_module
from graphveil.mechanisms.factorisations import factorisation as factorisation_module
from graphveil.mechanisms.factorisations.bordered import Dyadic
from graphveil.mechanisms.laplace import SensDiff
from graphveil.mechanisms.mechanism import mechanism
from graphveil.mechanisms.mechanism import registered as mechanisms
from graphveil.registry import Registry
from graphveil.statistics import statistic as statistic_module
from graphveil.statistics.edges import Edges
from graphveil.statistics.statistic import registered as statistics
from graphveil.statistics.statistic import statistic

PACKAGE = "graphveil.calendar"  # any package whose modules enter nothing
names = st.text(st.characters(categories=["Ll"], max_codepoint=127), min_size=1, max_size=8)


def filled(*known: str) -> Registry[int]:
    made: Registry[int] = Registry("fruit", PACKAGE)
    for number, name in enumerate(known):
        made.enter(name, number)
    return made


def refusal(registry: Registry[int], name: str, *besides: str) -> str:
    with pytest.raises(ParameterError) as caught:
        registry.named(name, besides)
    assert caught.value.parameter == registry.kind
    return str(caught.value)


@given(st.lists(names, unique=True))
def test_every_member_is_found_under_its_own_name(known: list[str]) -> None:
    registry = filled(*known)
    assert registry.members() == {name: number for number, name in enumerate(known)}
    assert [registry.named(name) for name in known] == list(range(len(known)))


@given(st.lists(names, unique=True, min_size=1), st.data())
def test_a_name_is_refused_the_second_time(known: list[str], data: st.DataObject) -> None:
    registry = filled(*known)
    again = data.draw(st.sampled_from(known))
    with pytest.raises(ValueError, match=again):
        registry.enter(again, 99)
    assert registry.named(again) == known.index(again)  # the first one stays


@given(st.lists(names, unique=True), names)
def test_a_name_that_nobody_has_is_refused(known: list[str], name: str) -> None:
    assume(name not in known)
    assert f"'{name}'" in refusal(filled(*known), name)


def test_the_nearest_name_is_offered() -> None:
    registry = filled("apple", "pear", "quince")
    assert "'apple'" in refusal(registry, "aple")
    assert "'quince'" in refusal(registry, "quinces")
    assert "pear" not in refusal(registry, "aple")


def test_where_none_is_near_all_are_named() -> None:
    told = refusal(filled("apple", "pear"), "xyz")
    assert "apple" in told
    assert "pear" in told


def test_what_may_be_asked_for_besides_is_offered_but_is_no_member() -> None:
    registry = filled("apple")
    assert "'medlar'" in refusal(registry, "medlr", "medlar")
    assert "medlar" in refusal(registry, "xyz", "medlar")
    assert "medlar" not in refusal(registry, "medlr")
    assert refusal(registry, "medlar", "medlar")
    assert "medlar" not in registry.members()


def test_a_listing_is_a_copy() -> None:
    registry = filled("apple")
    registry.members().clear()
    assert registry.named("apple") == 0


def test_registries_share_nothing() -> None:
    one, other = filled("apple"), filled()
    assert one.members() == {"apple": 0}
    assert other.members() == {}


def test_a_new_file_in_the_package_is_a_new_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "orchard"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from graphveil.registry import Registry\nTREES = Registry('tree', 'orchard')\n"
    )
    for name in ("elm", "oak"):
        text = f"from orchard import TREES\nTREES.enter({name!r}, {name.upper()!r})\n"
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    from importlib import import_module

    try:
        trees = import_module("orchard").TREES
        assert trees.members() == {"elm": "ELM", "oak": "OAK"}
        assert trees.members() == {"elm": "ELM", "oak": "OAK"}  # a module enters itself once
    finally:
        for loaded in ("orchard", "orchard.elm", "orchard.oak"):
            sys.modules.pop(loaded, None)


def test_members_of_the_library_are_called_as_they_are_entered() -> None:
    for name, made in mechanisms().items():
        assert made.name == name
        assert mechanism(name) is made
    for name, kind in statistics().items():
        assert kind.name == name


def test_auto_is_offered_where_mechanisms_are_named() -> None:
    with pytest.raises(ParameterError, match="'auto'"):
        mechanism("aut")
    with pytest.raises(ParameterError) as caught:
        statistic("aut")
    assert "auto" not in str(caught.value).replace("'aut'", "")


@pytest.mark.parametrize(
    ("module", "member", "name"),
    [
        (mechanism_module, SensDiff, "sensdiff"),
        (statistic_module, Edges, "edges"),
        (factorisation_module, Dyadic, "dyadic"),
    ],
)
def test_a_member_enters_itself_and_stays_what_it_is(
    module: Any, member: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty: Registry[Any] = Registry("member", PACKAGE)
    monkeypatch.setattr(module, "_REGISTRY", empty)
    assert module.register(member) is member
    (entered,) = empty.members().items()
    assert entered == (name, member() if module is mechanism_module else member)


def test_the_planners_own_choice_is_offered_beside_the_mechanisms() -> None:
    with pytest.raises(ParameterError, match="auto"):
        mechanism("autos")
