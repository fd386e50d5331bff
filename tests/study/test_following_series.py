"""Links at thresholds that follow, through the life of a study: published, copied, extended."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphveil.backends import LocalEngine
from graphveil.errors import ParameterError, StudyError
from graphveil.graph.promises import DegreeBound, NoBound
from graphveil.graph.thresholds import FollowingBound, TotalBound
from graphveil.records import from_rows
from graphveil.report import releases
from graphveil.report.card import card
from graphveil.report.estimates import revisions
from graphveil.series.planner import plan as planned
from graphveil.series.release import Series
from graphveil.series.state import Trail
from graphveil.statistics.sensitivity import PARTS
from graphveil.statistics.statistic import statistic
from graphveil.steward import custody, series
from graphveil.steward.reporting import write_report
from graphveil.steward.requests import SeriesRequest
from graphveil.study import Promise, StoredStudy, publishing
from graphveil.study.announced_plans import announced_plan
from graphveil.study.facts import ReleaseMade
from graphveil.study.public_part import PublicPart
from graphveil.study.verification import verify
from plain_rules import numbered
from studies import freeze_noise
from test_verification import forge, kept, problem, told

LINKS: dict[str, Any] = {
    "name": "links", "statistic": "edges", "epsilon": "20", "projection": "follow:300",
}  # fmt: skip
GUESSED = LINKS | {"name": "guessed", "projection": "follow:300:20"}
FREE: dict[str, Any] = {
    "bound": "none",
    "budget": {"epsilon": "100", "justification": "an example"},
    "series": [LINKS, GUESSED],
}
STEPS = 5
PEOPLE = [(f"p{number:03}", number // 25) for number in range(125)]


def star(number: int) -> tuple[str, str]:
    """A few hubs with most of the links."""
    return (f"p{number % 4:03}", f"p{number:03}")


EDGES = [star(number) for number in range(4, 125)]
EDGES += [(f"p{number - 7:03}", f"p{number:03}") for number in range(11, 125)]


def opened(root: Path, **changed: Any) -> StoredStudy:
    study = StoredStudy.create(root, numbered(STEPS, **FREE | changed))
    study.add(from_rows(PEOPLE, EDGES))
    return study


def made(study: StoredStudy, name: str = "links") -> list[tuple[dict[str, Any], ReleaseMade]]:
    """Each release, with what only its keeper knows."""
    told_rows = study.ledger().facts_of(ReleaseMade)
    return [(row.secret, fact) for row, fact in told_rows if fact.series == name]


def require_sound(study: StoredStudy) -> None:
    """Every count, threshold and noise is what the ledger says, by counting it another way."""
    assert all(check.is_finished for check in verify(study))
    part = PublicPart.read(study.folder.public)
    for each in part.series:
        plan = announced_plan(each)
        assert plan is not None
        trail = Trail.of(plan)
        for fact in each.releases:
            assert trail.is_due(fact.asked)
            trail = trail.after(fact.asked)


@pytest.mark.parametrize("directed", [False, True])
def test_counts_are_those_of_the_projection_to_the_stated_threshold(
    root: Path, directed: bool
) -> None:
    study = opened(root, directed=directed)
    study.publish(STEPS - 1)
    require_sound(study)
    recounted: Any = study.backend.recounted(study.stored(study.ledger()), ())
    engine, total = LocalEngine(), 0
    for secret, fact in made(study):
        threshold = fact.threshold
        assert threshold is not None
        bound = TotalBound(threshold) if directed else DegreeBound(threshold)
        counts = engine.count(engine.project(recounted.graph, bound), [statistic("edges")])
        total += secret["differences"][0]
        assert total == counts.totals(statistic("edges"))[fact.step]
        newest = fact.answers[-1]
        assert newest.scaled == PARTS * total // threshold + secret["noise"][-1]
        assert fact.raw == ((2 * newest.scaled * threshold + PARTS) // (2 * PARTS),)
        assert fact.changes == ()
    assert made(study)[-1][1].threshold != 1  # it did follow


def test_step_by_step_and_all_at_once_are_alike_in_form(root: Path, tmp_path: Path) -> None:
    """Commands that publish a step each go on from what the last one left."""
    study = opened(root)
    for step in range(STEPS):
        StoredStudy.at(root).publish(step)
    require_sound(study)
    asked = sum(len(fact.answers) for _, fact in made(study))
    assert STEPS <= asked <= STEPS + 2


def test_a_copy_goes_on_with_fresh_noise_given_what_was_asked(root: Path) -> None:
    study = opened(root)
    study.publish(1)
    before = [fact for _, fact in made(study)]
    state = study.committed().stored_series["links"].state
    custody.adoption(root, "the old disk is lost")
    assert study.committed().stored_series["links"].state != state
    study.publish(STEPS - 1)
    assert [fact for _, fact in made(study)][:2] == before
    require_sound(study)


def test_an_older_copy_does_not_publish_with_the_same_noise(root: Path, tmp_path: Path) -> None:
    study = opened(root)
    study.publish(1)
    shutil.copytree(root, tmp_path / "copy")
    study.publish(2)
    with pytest.raises(Exception, match="cop"):
        StoredStudy.at(tmp_path / "copy").publish(2)


def test_a_longer_study_has_questions_of_its_own_for_a_price(root: Path) -> None:
    study = opened(root)
    study.publish(2)
    series.extend(root, last=str(STEPS + 1), prices={"links": "4", "guessed": "2"})
    study.publish(STEPS + 1)
    require_sound(study)
    assert len(made(study)) == STEPS + 2


def test_a_later_series_follows_from_its_first_step_on(root: Path) -> None:
    study = opened(root)
    study.publish(1)
    later = SeriesRequest("edges", name="later", epsilon="9", projection="follow:300:15")
    series.open_series(root, later)
    study.publish(STEPS - 1)
    require_sound(study)
    assert len(made(study, "later")) == STEPS - 2


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ("threshold", "does not follow|different count"),
        ("scaled", "does not follow|not the exact value"),
        ("raw", "not the last answer"),
        ("noise", "not the one that was kept"),
        ("differences", "different count"),
    ],
)
def test_whatever_is_forged_is_found(root: Path, changed: str, found: str) -> None:
    study = opened(root, series=[LINKS])
    study.publish(2)
    rows = [row for row, _ in study.ledger().facts_of(ReleaseMade)]
    row = rows[1]
    if changed in ("threshold", "scaled"):
        answers = [dict(each) for each in row.fact["answers"]]
        answers[-1][changed] += 1
        forge(study, row.number, told(answers=answers))
    elif changed == "raw":
        forge(study, row.number, told(raw=[row.fact["raw"][0] + 1]))
    else:
        numbers = row.secret[changed]
        forge(study, row.number, kept(**{changed: [*numbers[:-1], numbers[-1] + 1]}))
    assert re.search(found, problem(study))


def test_page_card_and_tables_say_what_is_counted(root: Path) -> None:
    study = opened(root)
    study.publish(STEPS - 1)
    write_report(study.folder.public)
    part = PublicPart.read(study.folder.public)
    newest = part.series[0].releases[-1]
    page = (study.folder.public / "report.html").read_text()
    words = f"counting at most {newest.threshold} links per person"
    assert words in page
    assert "Further links of a person are not in it" in page
    assert "A group that hangs" not in page
    assert "by at most the threshold that it states" in page
    (links, _) = card(part)["series"]
    assert links["projection"] == "follow:300"
    assert "as many links per person as each release states" in links["counts"]
    rows = [row for row in releases.measurements(part) if row.series == "links"]
    assert [row.threshold for row in rows] == [made.threshold for made in part.series[0].releases]
    assert [row.scaled for row in rows] == [
        made.answers[-1].scaled for made in part.series[0].releases
    ]
    assert all(row.new is None for row in rows)
    revised = [row.revised for row in revisions(part) if row.series == "links"]
    assert revised == sorted(revised)
    assert len(revised) == STEPS


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"projection": "follow:0"}, "a guess is a whole number"),
        ({"projection": "follow:10:-1"}, "a guess is a whole number"),
        ({"projection": "follow"}, "must be a number"),
        ({"statistic": "nodes"}, "is for links"),
        ({"statistic": "triangles"}, "is for links"),
        ({"mechanism": "sensdiff"}, "not allowed for others"),
        ({"mechanism": "following", "projection": None}, "edges needs one"),
    ],
)
def test_bad_promises_are_refused_before_anything_is_spent(
    entry: dict[str, Any], problem: str
) -> None:
    with pytest.raises(StudyError, match=problem):
        numbered(STEPS, **FREE | {"series": [LINKS | entry]})


def test_an_open_end_is_refused_before_anything_is_spent(root: Path) -> None:
    endless = {"every": 1, "unit": "number", "first": 0}
    with pytest.raises(ParameterError, match="horizon: must be known"):
        StoredStudy.create(root, numbered(STEPS, **FREE | {"calendar": endless}))
    assert not root.exists()


def test_a_guess_is_part_of_the_promise() -> None:
    promise = numbered(STEPS, **FREE)
    assert 'projection = "follow:300:20"' in promise.to_toml()
    assert Promise.from_toml(promise.to_toml()) == promise


def test_a_publication_that_fails_leaves_no_trace(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise is drawn inside the transaction: what was not committed was never asked."""
    study = opened(root)
    study.publish(0)
    before = study.committed().stored_series
    enter = publishing._enter

    def failing(transaction: Any, fact: ReleaseMade, *rest: Any, **more: Any) -> Any:
        if (fact.series, fact.step) == ("guessed", 2):
            raise OSError("the disk is full")
        return enter(transaction, fact, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "_enter", failing)
        with pytest.raises(OSError, match="disk"):
            study.publish(STEPS - 1)
    assert study.committed().stored_series == before
    StoredStudy.at(root).publish(STEPS - 1)
    require_sound(study)


def test_memory_and_study_publish_the_same_and_go_on_alike(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze_noise(monkeypatch)
    study = opened(root, series=[LINKS])
    study.publish(STEPS - 1)
    recounted: Any = study.backend.recounted(study.stored(study.ledger()), ())
    edges, bound = statistic("edges"), FollowingBound(300)
    plan = planned(edges, NoBound(), epsilon=20, horizon=STEPS, projection=bound)
    first, series = Series.open(plan, edges, bound).publish(recounted.graph.until(2), through=1)
    resumed = Series.resume(
        plan, edges, bound, series.state, series.history, answers=series.answers
    )
    later, _ = resumed.publish(recounted.graph, through=STEPS - 1)
    facts = [fact for _, fact in made(study)]
    assert [each.answers for each in (*first, *later)] == [fact.asked for fact in facts]
    assert [each.raw for each in (*first, *later)] == [fact.raw for fact in facts]
    for each, fact in zip((*first, *later), facts, strict=True):
        assert each.interval("0.95") == (fact.low[0], fact.high[0])
        assert each.processed == pytest.approx(fact.processed)
    with pytest.raises(ParameterError, match="answers"):
        Series.resume(plan, edges, bound, series.state, series.history)
