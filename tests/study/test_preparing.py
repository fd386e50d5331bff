"""Preparing the next steps, with a backend made by hand: what it is asked, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.errors import BoundError, IntegrityError
from graphveil.graph.promises import DegreeBound
from graphveil.series.counting import SeriesTerms
from graphveil.series.planner import plan
from graphveil.series.postprocessing import Processing
from graphveil.series.state import start
from graphveil.statistics.statistic import statistic
from graphveil.study import publishing
from graphveil.study.publishing import Prediction, Prepared, prepare, require_bound_so_far, seal
from graphveil.study.reading import StoredSeries

EDGES, BOUND = statistic("edges"), DegreeBound(3)
PLAN = plan(EDGES, BOUND, epsilon=1, horizon=9, mechanism="sensdiff")


@dataclass
class Held:
    """Holds a graph that breaks its promise at some step, or never; notes what it is asked."""

    breaks_at: int | None = None
    keeps: bool = True
    asked: list[Any] = field(default_factory=list)

    def grown(self, stored: Any, through: int) -> Held:
        self.asked.append(("grown", stored, through))
        return self

    def first_break(self, bound: Any, since: int) -> int | None:
        self.asked.append(("first break", bound, since))
        return self.breaks_at

    def counted(self, series: Any, since: int) -> Any:
        self.asked.append(("counted", list(series), since))
        return SimpleNamespace(counts="counts")

    def keeps_promise(self, stored: Any) -> bool:
        self.asked.append(("keeps", stored))
        return self.keeps


def stored(made: int, *, checked: bool = True, projections: tuple[Any, ...] = (None,)) -> Any:
    """A study in which so many steps are sealed."""
    rows = [SimpleNamespace(hash=name) for name in ("a", "b", "c")]
    series = [SimpleNamespace(projection=each) for each in projections]
    bound = SimpleNamespace(checked=checked)
    promise = SimpleNamespace(degree_bound=bound, series=series)
    return SimpleNamespace(ledger=SimpleNamespace(sealed=range(made), rows=rows), promise=promise)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The terms of the series, which a test may change; what is ongoing is told by name."""
    terms: dict[str, Any] = {"one": SimpleNamespace(projects=False)}
    monkeypatch.setattr(publishing, "terms_of", lambda ledger, kept: terms)
    monkeypatch.setattr(publishing, "_ongoing", lambda *given: {"ongoing": given})
    return terms


def prepared(study: Any, backend: Any, kept: Any = "kept") -> Any:
    return prepare(study, kept, 7, backend)


@pytest.mark.parametrize(("made", "since"), [(0, 0), (1, 0), (2, 1), (5, 4)])
def test_series_are_counted_from_the_step_whose_totals_are_kept(
    counting: dict[str, Any], made: int, since: int
) -> None:
    backend, study = Held(), stored(made)
    found = prepared(study, backend)
    terms = [*counting.values()]
    assert backend.asked == [
        ("grown", study, 7),
        ("first break", study.promise.degree_bound, made),
        ("counted", terms, since),
    ]
    assert (found.last_hash, found.promise, found.breaks_at) == ("c", study.promise, None)
    assert found.series == {"ongoing": (study.ledger, "kept", counting, "counts")}
    assert found.counted.counts == "counts"


@pytest.mark.parametrize("breaks_at", [0, 4])
def test_where_the_promise_breaks_nothing_is_counted(
    counting: dict[str, Any], breaks_at: int
) -> None:
    counting["two"] = SimpleNamespace(projects=True)  # one that counts on it is enough
    backend, study = Held(breaks_at), stored(2)
    found = prepared(study, backend)
    assert [each[0] for each in backend.asked] == ["grown", "first break"]
    assert (found.last_hash, found.promise, found.breaks_at) == ("c", study.promise, breaks_at)
    assert (found.series, found.counted) == ({}, None)


def test_a_promise_on_which_nothing_counts_is_not_looked_at(counting: dict[str, Any]) -> None:
    for study, projects in ((stored(2, checked=False), False), (stored(2), True)):
        counting["one"].projects = projects
        backend = Held(breaks_at=3)
        assert prepared(study, backend).breaks_at is None
        assert [each[0] for each in backend.asked] == ["grown", "counted"]


CASES = [  # whether the promise is checked, of what series project, whether it is kept; refused
    (True, (2,), False, True),
    (True, (2, 3), False, True),
    (True, (), False, True),
    (True, (2,), True, False),
    (False, (2,), False, False),
    (True, (None,), False, False),
]


@pytest.mark.parametrize(("checked", "projections", "keeps", "refused"), CASES)
def test_no_series_begins_on_a_promise_that_is_broken(
    checked: bool, projections: tuple[Any, ...], keeps: bool, refused: bool
) -> None:
    study: Any = stored(2, checked=checked, projections=projections)
    study.promise.degree_bound = _Bound(checked)
    backend: Any = Held(keeps=keeps)
    if refused:
        with pytest.raises(BoundError, match="promised bound"):
            require_bound_so_far(study, backend)
    else:
        require_bound_so_far(study, backend)
    assert all(each == ("keeps", study) for each in backend.asked)


class _Bound:
    """A promise that can be told."""

    def __init__(self, checked: bool) -> None:
        self.checked = checked

    def __str__(self) -> str:
        return "degree at most 2"


def test_every_series_goes_on_from_its_own_state_and_its_own_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = np.array([[1], [2], [3], [4]])
    counts: Any = SimpleNamespace(of=lambda own: changes * (own.first_step + 1))
    terms = {name: SeriesTerms(EDGES, BOUND, PLAN, first) for name, first in (("a", 0), ("b", 1))}
    states = {"a": start(PLAN), "b": start(PLAN)}
    monkeypatch.setattr(publishing, "state_of", lambda name, kept: states[name])
    monkeypatch.setattr(publishing, "has_same_past", lambda *_: True)
    kept = dict.fromkeys(terms, StoredSeries("", ""))
    series = [
        SimpleNamespace(series=name, width=1, releases=[SimpleNamespace(raw=(7,), asked=())])
        for name in terms
    ]
    ledger: Any = SimpleNamespace(series=series, sealed=range(2))
    with pytest.raises(IntegrityError, match="series 'a'"):  # of which no release was made
        publishing._ongoing(ledger, kept, terms, counts)
    states["a"], states["b"] = _after(2), _after(1)
    found = publishing._ongoing(ledger, kept, terms, counts)
    assert list(found) == ["a", "b"]
    for name, each in found.items():
        assert (each.terms, each.state) == (terms[name], states[name])
        assert isinstance(each.counted, np.ndarray)
        assert each.counted.tolist() == counts.of(each.terms).tolist()
        assert each.processing == Processing.of(EDGES, 1, [(7,)])


def _after(releases: int) -> Any:
    return SimpleNamespace(step=releases)


@dataclass
class Entered:
    """Steps that are ready, and the transaction that seals them; both only note what happens."""

    steps: int = 5
    rows: list[Any] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)

    def write_segment(self, steps: range) -> dict[str, Any]:
        return {"segment": steps}

    def keep(self, row: str) -> dict[str, str]:
        return {"local": row}

    def append(self, fact: Any, *, private: Any) -> Any:
        self.rows.append(SimpleNamespace(hash=f"row {fact.step}", label=fact.label, secret=private))
        return self.rows[-1]

    def keep_beside(self, engine: str, entry: str) -> None:
        self.beside.append((engine, entry))


@pytest.mark.parametrize(
    ("steps", "kept"), [(range(2, 3), []), (range(2, 4), []), (range(2, 5), [("local", "row 4")])]
)
def test_where_counting_stands_is_kept_once_with_the_last_of_all_steps(
    steps: range, kept: list[tuple[str, str]]
) -> None:
    here: Any = Entered()
    promise: Any = SimpleNamespace(calendar=Calendar.yearly(2001))
    found = seal(here, Prepared("before", promise, None, {}, here), Prediction(steps, {}, {}))
    assert here.beside == kept
    assert list(found.rows) == here.rows
    assert [row.label for row in here.rows] == [str(2001 + step) for step in steps]
    assert all(row.secret == {"segment": steps} for row in here.rows)
    assert found.prepared.last_hash == f"row {steps[-1]}"
