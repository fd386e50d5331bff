"""What results beneath `graphveil.Study` say of themselves, word by word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import graphveil
from graphveil import Calendar, DegreeBound, GraphSequence, Series, from_rows, statistic
from graphveil.series.release import Release
from graphveil.study import StoredStudy
from plain_rules import EDGES
from studies import promise


def released() -> Release:
    edges, bound = statistic("edges"), DegreeBound(15)
    chosen = graphveil.plan(edges, bound, epsilon=1, horizon=5)
    sequence, _ = GraphSequence.begin(Calendar.yearly(2021)).extend(from_rows([("ann", 2021)]))
    (release,), _ = Series.open(chosen, edges, bound).publish(sequence, through=0)
    return release


def test_a_release_shows_its_numbers_and_their_noise() -> None:
    one = replace(released(), raw=(1234,), noise_std=12.34)
    assert str(one) == "2021: 1,234 (± 12.3 in each)"
    assert str(replace(one, raw=(1, 2, 3, 4, 5, 6))) == "2021: 1, 2, 3, 4, 5, 6 (± 12.3 in each)"
    assert str(replace(one, raw=tuple(range(7)))) == "2021: 0, 1, 2, 3, 4, 5, … (± 12.3 in each)"


def test_what_was_announced_names_its_steps_and_no_row_of_the_ledger(root: Path) -> None:
    study = StoredStudy.create(root, promise(series=[EDGES]))
    added = study.add(from_rows([("ann", 2001)]))
    assert repr(added) == "Added(batch=1)"
    assert str(added).splitlines()[1:] == ["  1 node added", "  0 edges added"]
    done = study.publish(1, early=True)
    assert repr(done) == "Announced(steps=[0, 1])"
    assert str(done) == "Sealed: 2001, 2002."
    assert str(study.publish(1)) == "Sealed: nothing new."
