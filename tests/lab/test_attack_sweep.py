"""The gate: no registered claim is broken, and every claim to be exact is reached."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab import BOUNDS, QUICK, THOROUGH, Attack, replay, sweep
from graphveil.lab.__main__ import main
from graphveil.lab.attacks.sweep import admits, every_statistic, rows
from graphveil.statistics.sensitivity import Measure
from graphveil.statistics.statistic import registered, statistic
from once import made_once

# Who is oriented keeps each bound that is not, so that some of the oriented ones will do here;
# the long audit has all.
GRID = tuple(
    bound
    for bound in BOUNDS
    if not (isinstance(bound, InOutBound) and bound.oriented)
    or (bound.inward, bound.outward) in {(1, 2), (3, 1), (2, 2), (3, 3), (4, 3)}
)


BRIEF = replace(QUICK, moves=800)


@pytest.fixture(scope="module")
def attacks(tmp_path_factory: pytest.TempPathFactory) -> list[Attack]:
    return made_once(tmp_path_factory, "attacks", lambda: sweep(bounds=GRID, effort=BRIEF))


def failures(attacks: list[Attack]) -> list[str]:
    return [
        f"{attack.statistic}, {attack.bound}: {finding.measure} {finding.verdict}, "
        f"found {finding.found}, claimed {finding.claimed}; {finding.witness}"
        for attack in attacks
        for finding in attack.findings
        if finding.broken or finding.unconfirmed
    ]


def test_no_claim_is_broken_and_every_exact_one_is_reached(attacks: list[Attack]) -> None:
    assert failures(attacks) == []


def test_every_statistic_is_attacked_under_every_bound_it_admits(attacks: list[Attack]) -> None:
    attacked = {(attack.statistic, attack.bound, attack.relation) for attack in attacks}
    expected = {
        (member, bound, relation)
        for member in every_statistic()
        for bound in GRID
        if admits(member, bound)
        for relation in ("node", "edge")
    }
    assert attacked == expected
    assert {member.name for member in every_statistic()} == set(registered())


def test_witnesses_replay_in_plain_python(attacks: list[Attack]) -> None:
    for attack in attacks[::25]:
        for finding in attack.findings:
            assert finding.witness is not None
            assert finding.witness.respects(attack.bound)
            apart = replay(attack.statistic, finding.witness)
            numbers = {"edge_l1": apart.l1, **asdict(apart)}
            assert numbers[finding.measure] == finding.found


# What the facts say, as plain numbers that do not come from the statistics' own code.
FACTS: list[tuple[str, dict[str, int], Measure, dict[Bound, int]]] = [
    ("degree-histogram", {}, "l1", {DegreeBound(d): x for d, x in enumerate((5, 15, 35, 63), 1)}),
    ("degree-ccdf", {}, "l1", {DegreeBound(d): x for d, x in enumerate((3, 9, 19, 33), 1)}),
    ("degree-ccdf", {}, "l2_squared", {DegreeBound(2): 19, DegreeBound(3): 55}),
    ("degree-histogram", {}, "l2_squared", {DegreeBound(2): 39, DegreeBound(3): 135}),
    ("high-degree", {"tau": 2}, "l1", {DegreeBound(2): 3, DegreeBound(3): 7}),
    ("components", {}, "l1", {DegreeBound(d): 2 * d for d in (1, 2, 3, 4)}),
    ("components", {}, "l1", {InOutBound(1, 1): 4, InOutBound(1, 3): 6, InOutBound(2, 3): 10}),
    ("clusters", {"k": 2}, "l1", {DegreeBound(1): 1, DegreeBound(2): 4, DegreeBound(4): 8}),
    ("clusters", {"k": 3}, "l1", {DegreeBound(2): 4, DegreeBound(3): 6, InOutBound(1, 3): 6}),
    ("clustered", {"k": 2}, "l1", {DegreeBound(1): 2, DegreeBound(2): 5, DegreeBound(3): 7}),
    ("clustered", {"k": 3}, "l1", {DegreeBound(2): 9, DegreeBound(3): 13, InOutBound(1, 1): 9}),
    ("triangles", {}, "l1", {DegreeBound(3): 3, DegreeBound(4): 6}),
    ("stars", {"k": 2}, "l1", {DegreeBound(3): 9, DegreeBound(4): 18}),
    ("transitive-triangles", {}, "l1", {InOutBound(3, 3): 18, InOutBound(3, 4): 22}),
    ("transitive-triangles", {}, "l1", {InOutBound(3, 3, True): 9, InOutBound(4, 3, True): 11}),
    ("cyclic-triangles", {}, "l1", {InOutBound(2, 3): 4, InOutBound(3, 3): 9}),
    ("out-degree-histogram", {}, "l1", {InOutBound(2, 2): 17, InOutBound(3, 3): 37}),
    ("degree-histogram", {}, "edge_l1", {DegreeBound(2): 12, DegreeBound(3): 20}),
    ("triangles", {}, "edge_l1", {DegreeBound(4): 3}),
]


@pytest.mark.parametrize(("name", "given", "measure", "expected"), FACTS)
def test_the_facts_are_found(
    attacks: list[Attack],
    name: str,
    given: dict[str, int],
    measure: Measure,
    expected: dict[Bound, int],
) -> None:
    member = statistic(name, **given)
    found = {
        attack.bound: finding.found
        for attack in attacks
        if attack.statistic == member and attack.bound in expected
        for finding in attack.findings
        if finding.measure == measure
    }
    assert found == expected


def test_bounds_that_a_statistic_refuses_are_passed_over() -> None:
    high = statistic("high-degree", tau=3)
    with pytest.raises(ParameterError):
        high.sensitivity(DegreeBound(2))
    assert sweep([high], [DegreeBound(2), InOutBound(3, 3)]) == []


def test_a_sweep_repeats_itself() -> None:
    member, bounds = statistic("degree-ccdf"), (DegreeBound(2), DegreeBound(3))
    assert sweep([member], bounds) == sweep([member], bounds)


def test_the_table_has_a_row_per_kind_or_per_bound(attacks: list[Attack]) -> None:
    components = [attack for attack in attacks if str(attack.statistic) == "components"]
    assert [row[1] for row in rows(components)] == ["undirected", "oriented", "directed"]
    assert len(rows(components, every_bound=True)) == len(GRID)
    undirected = rows(components)[0]
    assert undirected[5] == "8 = 8"
    assert undirected[-1] == "reached"


def test_the_command_prints_a_tally(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nodes", "--every-bound"]) == 0
    assert "1 = 1" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["no-such-statistic"])
    assert "no-such-statistic" in capsys.readouterr().err


@pytest.mark.slow
def test_the_long_audit_breaks_nothing() -> None:
    assert failures(sweep(effort=THOROUGH)) == []
