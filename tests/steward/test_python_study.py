"""`graphveil.Study`: plain values in, frames and charts out, and nothing private on show."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pytest

import graphveil
from graphveil import DegreeBound, HubBound, InOutBound, NoBound, SeriesPromise, Study
from graphveil.errors import GraphveilError, ParameterError, StudyError
from steward import people, run
from study_requests import REQUEST

NODES = pl.DataFrame({"who": ["ann", "bob", "cem"], "seen": [2001, 2001, 2002]})
LINKS = pl.DataFrame({"one": ["ann", "cem"], "other": ["bob", "ann"]})
CALLED = {"id": "who", "time": "seen", "source": "one", "target": "other"}
PLAIN: dict[str, Any] = {
    "title": REQUEST.title,
    "population": REQUEST.population,
    "publisher": REQUEST.publisher,
    "first": 2001,
    "last": 2004,
    "bound": 4,
    "bound_reason": REQUEST.bound_reason,
    "epsilon": 1,
    "epsilon_reason": REQUEST.epsilon_reason,
    "series": {"edges": "1/4", "degrees": {"statistic": "degree-ccdf", "epsilon": 0.25}},
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the tests work."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def study(place: Path) -> Study:
    """A draft."""
    return Study.create("study", **PLAIN)


def published(study: Study, through: str = "2002") -> Study:
    study.add(NODES, LINKS, **CALLED)  # type: ignore[arg-type]
    study.publish(through=through)
    return study


def test_plain_values_and_commands_make_the_same_study(study: Study, place: Path) -> None:
    from steward import PROMISE, SERIES

    run("new", place / "other", *PROMISE, *SERIES)
    texts = [(place / name / "public" / "study.toml").read_text() for name in ("study", "other")]
    assert texts[0] == texts[1]
    assert study.promise.title == REQUEST.title


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"bound": (3, 4)}, {"inward": 3, "outward": 4}),
        ({"bound": InOutBound(3, 4, True)}, {"inward": 3, "outward": 4, "oriented": True}),
        ({"bound": DegreeBound(7)}, {"degree": 7}),
        ({"bound": 7, "hubs": 2}, {"degree": 7, "hubs": (2,)}),
        ({"bound": HubBound(DegreeBound(7), (2,))}, {"hubs": (2,), "if_broken": "refuse"}),
        ({"bound": HubBound(DegreeBound(7), (0,), checked=False)}, {"hubs": None, "degree": 7}),
    ],
)
def test_bounds_of_every_kind(place: Path, given: dict[str, Any], told: dict[str, Any]) -> None:
    bound = Study.create("study", **PLAIN | {"series": ["nodes", "edges"]} | given).promise.bound
    for key, value in told.items():
        assert getattr(bound, key) == value


def test_series_on_one_line_are_those_of_the_commands(place: Path) -> None:
    made = Study.create("study", **PLAIN | {"series": ["nodes", "high-degree:tau=2@1/4=hubs"]})
    nodes, hubs = made.promise.series
    assert (nodes.name, nodes.statistic) == ("nodes", "nodes")
    assert (hubs.name, hubs.epsilon, str(hubs.counted())) == ("hubs", "0.25", "high-degree (tau=2)")
    assert "hubs: high-degree (tau=2); ε = 0.25; nothing published" in str(made)


def test_a_bound_wants_a_reason_by_the_name_that_was_called(place: Path) -> None:
    with pytest.raises(ParameterError, match=r"^bound_reason: is missing\. Say why the public"):
        Study.create("study", **PLAIN | {"bound_reason": None})
    assert not (place / "study").exists()


def test_a_ratio_of_a_series_whose_threshold_follows_says_what_to_take(place: Path) -> None:
    more = {"bound": None, "bound_reason": None, "ratios": {"links per person": "2*edges/nodes"}}
    with pytest.raises(ParameterError, match=r"another threshold.* fixed projection"):
        Study.create("study", **PLAIN | more | {"series": ["nodes", "edges"]})


@pytest.mark.parametrize("nothing", [None, NoBound()])
def test_a_study_may_promise_nothing(place: Path, nothing: NoBound | None) -> None:
    more = {"bound": nothing, "bound_reason": None, "series": {"edges": {"projection": 5}}}
    assert Study.create("study", **PLAIN | more).promise.bound is None


def test_series_of_every_kind(place: Path) -> None:
    written = SeriesPromise(name="links", statistic="edges", epsilon="1/8")
    series = {"nodes": None, "hubs": {"statistic": "high-degree", "tau": 2}, "links": written}
    found = {
        each.name: each for each in Study.create("a", **PLAIN | {"series": series}).promise.series
    }
    assert found["links"].epsilon == "0.125"
    assert found["hubs"].parameters == {"tau": 2}
    assert found["nodes"].epsilon == found["hubs"].epsilon == "0.4375"
    listed = Study.create("b", **PLAIN | {"series": ["nodes", written]}).promise.series
    assert [each.name for each in listed] == ["nodes", "links"]


def test_calendars_of_every_kind(place: Path) -> None:
    def labels(name: str, **more: Any) -> list[str]:
        given = {key: value for key, value in PLAIN.items() if key not in ("first", "last")}
        return Study.create(name, **given | more).promise.calendar.labels(2)

    assert labels("a", every="quarter", first="2024-01", steps=4) == ["2024-01", "2024-04"]
    assert labels("b", every="day", first="2024-02-28", last="2024-03-02")[1] == "2024-02-29"
    assert (
        labels("c", calendar=graphveil.Calendar.weekly("2024-01-01", "2024-02-01"))[1]
        == "2024-01-08"
    )
    assert labels("d", every=5, first=0, last=20) == ["0", "5"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"first": None, "last": None}, "first: is needed"),
        ({"steps": 3}, "steps: give either last or steps"),
        ({"last": None, "steps": 0}, "steps: must be a whole number"),
        ({"calendar": graphveil.Calendar.yearly(2001)}, "calendar: says already"),
        ({"bound": None}, "bound: is None"),
        ({"bound": (1, 2, 3)}, "bound: is one number, or two"),
        ({"bound": "many"}, "bound: must be a whole number"),
        ({"series": "edges"}, "series: must be a list"),
        ({"series": {"edges": {"epsilom": 1}}}, "epsilom: has no meaning for 'edges'"),
        ({"series": {"edges": 2}}, "cost more than the study"),
        ({"epsilon": "lots"}, "epsilon: must be a number"),
        ({"every": "decade"}, "every: must be year, quarter, month, week, day or"),
    ],
)
def test_what_makes_no_sense_is_refused(place: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphveilError, match=message) as refused:
        Study.create("study", **PLAIN | wrong)
    assert len(str(refused.value)) < 300
    assert not (place / "study").exists()


def graph() -> nx.Graph[str]:
    made: nx.Graph[str] = nx.Graph()
    for who, seen in NODES.rows():
        made.add_node(who, seen=seen)
    made.add_edges_from(LINKS.rows())
    return made


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ((NODES, LINKS), CALLED),
        (([NODES, LINKS],), CALLED),
        ((NODES.lazy(), LINKS.lazy()), CALLED),
        ((NODES.to_pandas(), LINKS.to_pandas()), CALLED),
        ((NODES.to_arrow(), LINKS.to_arrow()), CALLED),
        ((graph(),), {"time": "seen"}),
        ((graphveil.from_rows(NODES.rows(), LINKS.rows()),), {}),
    ],
    ids=["frames", "a list of frames", "lazy frames", "pandas", "arrow", "networkx", "records"],
)
def test_data_of_every_kind_is_taken(
    study: Study, data: tuple[Any, ...], names: dict[str, str]
) -> None:
    found = study.add(*data, **names).added.findings.intake  # type: ignore[arg-type]
    assert (found.nodes_added, found.edges_added) == (3, 2)


@pytest.mark.parametrize("named", [True, False])
def test_a_graph_of_igraph_is_taken(study: Study, named: bool) -> None:
    import igraph

    people = NODES.rows()
    made = igraph.Graph(n=len(people))
    made.vs["seen"] = [seen for _, seen in people]
    if named:
        made.vs["name"] = [who for who, _ in people]
    place = {who: number for number, (who, _) in enumerate(people)}
    made.add_edges([(place[a], place[b]) for a, b in LINKS.rows()])
    found = study.add(made, time="seen").added.findings.intake
    assert (found.nodes_added, found.edges_added) == (3, 2)


def test_one_frame_is_of_nodes_or_of_edges(study: Study) -> None:
    assert study.add(NODES, **CALLED).added.findings.intake.nodes_added == 3  # type: ignore[arg-type]
    assert study.add(LINKS, **CALLED).added.findings.intake.edges_added == 2  # type: ignore[arg-type]


def test_files_are_taken(study: Study, place: Path) -> None:
    nodes, edges = people(place / "files")
    assert study.add(str(nodes), edges, dry_run=True).batch is None
    assert study.add([nodes, edges]).batch == 1


def test_columns_of_files_have_names_too(study: Study, place: Path) -> None:
    NODES.write_csv(place / "people.csv")
    LINKS.write_csv(place / "links.csv")
    added = study.add("people.csv", "links.csv", **CALLED)  # type: ignore[arg-type]
    assert added.added.findings.intake.nodes_added == 3


@pytest.mark.parametrize(
    ("data", "names", "message"),
    [
        ((3,), {}, "data: cannot be taken"),
        ((), {}, "data: cannot be taken"),
        ((NODES, LINKS, NODES), {}, "data: cannot be taken"),
        ((graph(),), {"id": "who"}, "id: names a column of a frame, and this is a graph"),
        ((NODES,), {}, "there is no such column"),
        ((NODES, LINKS), {**CALLED, "time": "sean"}, "'seen'"),
        ((NODES, LINKS), {**CALLED, "format": "pair"}, "format: is about files"),
        ((nx.DiGraph([("a", "b")]),), {}, "the study says that they are undirected"),
    ],
)
def test_data_that_cannot_be_taken_are_refused(
    study: Study, data: tuple[Any, ...], names: dict[str, Any], message: str
) -> None:
    with pytest.raises(GraphveilError, match=message):
        study.add(*data, **names)
    assert not study.status().is_open


def test_people_without_a_date_may_be_left_out(study: Study, place: Path) -> None:
    nodes = pl.DataFrame({"node": ["ann", "bob"], "time": [2001, None]})
    nodes.write_csv(place / "nodes.csv")
    for data in (nodes, "nodes.csv"):
        with pytest.raises(GraphveilError, match="time is missing"):
            study.add(data, strict=True, dry_run=True)
        aside = study.add(data, dry_run=True).added.findings
        assert (aside.intake.nodes_added, len(aside.skipped)) == (1, 1)
        found = study.add(data, undated="drop", dry_run=True).added.findings.intake
        assert (found.nodes_added, found.nodes_undated) == (1, 1)


def test_steps_are_published_by_their_names(study: Study) -> None:
    study.add(NODES, LINKS, **CALLED)  # type: ignore[arg-type]
    assert study.publish().labels == ("2001",)
    assert study.publish(through="2003", report=False).labels == ("2002", "2003")
    assert study.publish(through=2004).labels == ("2004",)
    with pytest.raises(ParameterError, match="no step is called '3'"):
        study.publish(through=3)


def test_the_frame_is_what_was_published(study: Study, place: Path) -> None:
    published(study)
    frame = study.frame()
    table = pl.read_csv(place / "study" / "public" / "releases.csv", infer_schema_length=None)
    ours = ("revised", "relative_std")
    assert [name for name in frame.columns if not name.startswith(ours)] == table.columns
    assert frame.columns[5:9] == ["revised", "revised_low", "revised_high", "revised_at"]
    revised = pl.read_csv(place / "study" / "public" / "revised.csv", infer_schema_length=None)
    assert frame["revised"].to_list() == pytest.approx(revised["revised"].to_list())
    assert frame["revised_low"].to_list() == revised["low"].to_list()
    assert set(frame["revised_at"]) == {"2002"}
    for row in frame.iter_rows(named=True):
        whole = row["revised"] > 0
        assert row["relative_std"] == (row["noise_std"] / row["revised"] if whole else None)
    assert frame["raw"].to_list() == table["raw"].to_list()
    assert set(study.frame("edges")["series"]) == {"edges"}
    assert {"raw", "processed", "noise_std", "low", "high", "new", "new_std"} <= set(frame.columns)
    as_pandas = study.frame("edges", pandas=True)
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_pandas["raw"].tolist() == study.frame("edges")["raw"].to_list()
    assert study.changes("edges").height == 1


def test_the_public_part_alone_can_be_read(study: Study, place: Path) -> None:
    published(study)
    shutil.copytree(place / "study" / "public", place / "elsewhere")
    copy = Study.open("elsewhere")
    assert copy.frame().equals(study.frame())
    assert copy._repr_html_() == study._repr_html_()
    assert str(copy) == str(study)
    with pytest.raises(StudyError):
        copy.publish()


def test_a_series_is_drawn_as_on_the_page(study: Study) -> None:
    published(study)
    for name in ("edges", "degrees"):
        file = study.folder / "public" / "charts" / f"{name}.svg"
        assert study.plot(name)._repr_svg_() == file.read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match="say which one to plot"):
        study.plot()


def test_nothing_to_draw_yet(study: Study) -> None:
    study.add(NODES, LINKS, **CALLED)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="nothing is published of 'edges' yet"):
        study.plot("edges")


def test_one_more_series(study: Study) -> None:
    published(study)
    tried = study.open_series("hubs", statistic="high-degree", tau=2, epsilon="1/8", dry_run=True)
    assert "would begin with 2003" in str(tried)
    study.open_series("triangles", epsilon=0.125)
    assert list(study.plans()) == ["edges", "degrees", "triangles"]
    assert study.verify().failure is None


def test_a_drowned_series_needs_a_word(place: Path) -> None:
    drowned = {"series": {"edges": {"expected": 2}}}
    with pytest.raises(ParameterError, match="series: 'edges'"):
        Study.create("study", **PLAIN | drowned)
    study = Study.create("study", **PLAIN | drowned, even_too_noisy=True)
    assert study.promise.series[0].expected == 2


def test_a_batch_is_withdrawn(study: Study) -> None:
    batch = study.add(NODES, **CALLED).batch  # type: ignore[arg-type]
    assert batch is not None
    study.withdraw(batch)


def shown(study: Study) -> list[str]:
    """All that a notebook shows without being asked to print."""
    return [repr(study), str(study), study._repr_html_(), repr(study.status())]


def test_nothing_private_is_shown(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of neighbours, the same is shown; it names nobody, and no batch that waits."""
    seen = []
    for name, nodes in (("with", NODES), ("without", NODES.head(2))):
        (place / name).mkdir()
        monkeypatch.chdir(place / name)
        study = Study.create("study", **PLAIN)
        links = LINKS.filter(LINKS["one"].is_in(nodes["who"].to_list()))
        first = study.add(nodes, links, **CALLED)  # type: ignore[arg-type]
        study.publish()
        before = shown(study)
        again = study.add(pl.DataFrame({"node": ["secret"], "time": [2004]}))
        assert shown(study) == before
        seen.append([*(repr(each) for each in (first, again, first.added)), before[0], before[3]])
        assert not any(who in text for text in before for who in ("ann", "bob", "cem", "secret"))
    assert seen[0] == seen[1]


def test_results_say_what_they_hold(study: Study) -> None:
    added = study.add(NODES, LINKS, **CALLED)  # type: ignore[arg-type]
    assert "private" in repr(added)
    assert "3" not in repr(added)
    assert str(added).startswith("PRIVATE")
    assert str(added.added).startswith("PRIVATE")
    assert "3 nodes added" in str(added)
    made = study.publish(through="2002")
    assert repr(made) == "<Published: 2001 to 2002; 12 numbers>"
    assert str(made).splitlines()[1].startswith("  edges: ")
    assert repr(study.report()).startswith("<Report: ")
    assert "passed" in repr(study.verify())
    assert repr(study.status()).startswith("A study for tests: open\n  Steps: 2 sealed")
    assert repr(study.plans()["edges"]).startswith("<Plan of edges")


def test_what_the_page_escapes_is_escaped_here(place: Path) -> None:
    study = Study.create("study", **PLAIN | {"title": "<script>alert(1)</script>"})
    assert "<script>" not in study._repr_html_()


def test_names_and_numbers_are_enough_to_plan() -> None:
    by_name = graphveil.plan("high-degree", 15, epsilon=1, horizon=20, tau=3)
    by_value = graphveil.plan(
        graphveil.statistic("high-degree", tau=3), DegreeBound(15), epsilon="1", horizon=20
    )
    assert by_name == by_value
    both = graphveil.plan("edges", (3, 4), epsilon=1, horizon=5)
    assert "in-degree" in both.subject
    assert graphveil.plan("edges", 15, epsilon=1, horizon=5, projection=4).mechanism.projects
    assert graphveil.compare("stars", 15, epsilon=1, horizon=5, k=2)
    with pytest.raises(ParameterError, match="tua: has no meaning"):
        graphveil.plan("edges", 15, epsilon=1, horizon=5, tua=3)
    with pytest.raises(ParameterError, match="tau: belongs to a name"):
        graphveil.plan(graphveil.statistic("edges"), 15, epsilon=1, horizon=5, tau=3)
