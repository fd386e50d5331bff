"""The files of a report: which there are, that they are the same each time, and what they say."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from commands import ROOT
from graphveil.errors import IntegrityError, StorageError
from graphveil.report.artefacts import artefacts, write
from graphveil.report.charts import description, drawing
from graphveil.report.news import reading
from graphveil.report.page import CHECK
from graphveil.report.releases import as_csv, as_frame, as_json, as_parquet, measurements
from graphveil.report.wording import COUNTED, certainties, chance, counted_things, factor, figure
from graphveil.statistics.statistic import registered
from graphveil.study.history import PublishedSeries
from graphveil.study.public_part import PublicPart
from public_parts import SERIES, opened, promise, published, write_part

HOSTILE = '<script>alert("1")</script> & <img src=x onerror=y> {{ 7 * 7 }} {% raw %}'

DESCRIBED = ["card.json", "datapackage.json", "dataset.jsonld"]
ALWAYS = ["releases.csv", "changes.csv", "dictionary.csv", *DESCRIBED]


def part_of(steps: int, **changes: object) -> PublicPart:
    study = promise(**changes)
    return PublicPart.of(published(study, steps).rows)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_part(tmp_path_factory.mktemp("study"), promise(), published(promise(), 3))


@pytest.fixture(scope="module")
def files(public: Path) -> tuple[Path, ...]:
    return write(public)


def test_the_files_are_those_that_the_ledger_asks_for(
    public: Path, files: tuple[Path, ...]
) -> None:
    names = ("people", "links", "well-linked", "links-per-person")
    drawn = [f"charts/{name}.svg" for name in names]
    rows = [f"charts/{name}.csv" for name in names]
    expected = [*ALWAYS[:3], *rows, *DESCRIBED, *drawn, "report.html"]
    assert [path.relative_to(public).as_posix() for path in files] == expected
    found = {path for path in public.rglob("*") if path.is_file()}
    assert found == {*files, public / "study.toml", public / "ledger.jsonl"}


def test_the_same_public_part_gives_the_same_bytes(public: Path, files: tuple[Path, ...]) -> None:
    """Another process, in which other charts were drawn before."""
    before = {path: path.read_bytes() for path in files}
    for path in files:
        path.unlink()
    again = (
        "import sys; from pathlib import Path; from graphveil.report.artefacts import write; "
        "write(Path(sys.argv[1])); write(Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", again, str(public)], cwd=ROOT, check=True)
    assert {path: path.read_bytes() for path in files} == before


def test_cheap_files_are_told_from_drawn_ones() -> None:
    cheap = [each for each in artefacts(part_of(1)) if not each.drawn]
    assert [each.path for each in cheap if "/" not in each.path] == ALWAYS
    assert all(each.make() for each in cheap)


def test_a_study_without_releases_has_a_page_and_no_charts(tmp_path: Path) -> None:
    written = write(write_part(tmp_path, promise(), opened(promise())))
    assert [path.name for path in written] == [*ALWAYS, "report.html"]
    assert "Nothing is published yet." in written[-1].read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    public = write_part(tmp_path, promise(), published(promise(), 1))
    (public / "charts").write_text("in the way")
    with pytest.raises(StorageError, match="charts"):
        write(public)


@pytest.mark.parametrize("newer", ["card.json", "report.html", "releases.csv"])
def test_a_report_never_replaces_a_newer_one(tmp_path: Path, newer: str) -> None:
    """The ledger was rolled back, and one file of the report beside it was not."""
    study = promise(series=SERIES[:1])
    public = write_part(tmp_path, study, published(study, 2))
    kept = {path.name: path.read_bytes() for path in write(public)}
    for path in public.iterdir():
        if path.is_file() and path.name != newer:
            path.unlink()
    write_part(tmp_path, study, published(study, 1))
    with pytest.raises(IntegrityError, match=f"{newer} shows more than ledger.jsonl"):
        write(public)
    assert (public / newer).read_bytes() == kept[newer]
    assert {path.name for path in public.iterdir()} == {
        newer, "charts", "study.toml", "ledger.jsonl"
    }  # fmt: skip
    (public / newer).unlink()
    assert write(public)
    write_part(tmp_path, study, published(study, 2))
    assert {path.name: path.read_bytes() for path in write(public)} == kept


def test_rows_are_tidy() -> None:
    part = part_of(3)
    rows = list(csv.DictReader(io.StringIO(as_csv(part).decode())))
    assert len(rows) == 3 * (1 + 1 + 1 + 13)
    vector = [row for row in rows if row["series"] == "links-per-person"]
    assert [row["degree"] for row in vector] == [str(degree) for degree in range(13)] * 3
    assert {row["degree"] for row in rows if row not in vector} == {""}
    one = next(row for row in rows if row["series"] == "well-linked")
    assert (one["statistic"], one["epsilon"], one["level"]) == (
        "high-degree (tau=3)",
        "0.5",
        "0.95",
    )
    assert float(one["noise_std"]) == part.series[2].releases[0].noise_std


def test_all_forms_of_the_rows_say_the_same() -> None:
    part = part_of(2)
    frame = as_frame(part)
    assert pl.read_parquet(io.BytesIO(as_parquet(part))).equals(frame)
    assert as_parquet(part) == as_parquet(part)
    assert json.loads(as_json(part)) == frame.to_dicts()
    texts = {"label": pl.String(), "level": pl.String(), "epsilon": pl.String()}
    read = pl.read_csv(as_csv(part), schema_overrides={**frame.schema, **texts})
    assert read.equals(frame)
    assert frame.height == len(measurements(part))


def test_no_releases_are_an_empty_table_with_the_same_columns() -> None:
    study = promise()
    empty = PublicPart.of(opened(study).rows)
    assert as_frame(empty).schema == as_frame(part_of(1)).schema


def test_pictures_of_earlier_versions_are_not_left_beside_newer_drawings(tmp_path: Path) -> None:
    study = promise(series=SERIES[:1])
    public = write_part(tmp_path, study, published(study, 1))
    write(public)
    (drawn,) = (public / "charts").glob("*.svg")
    old, other = drawn.with_suffix(".png"), public / "charts" / "logo.png"
    old.write_bytes(b"older numbers")
    other.write_bytes(b"somebody else's")
    write(public)
    assert not old.exists()
    assert other.read_bytes() == b"somebody else's"


def test_a_drawing_has_a_text_alternative_and_no_ids() -> None:
    part = part_of(3)
    calendar, (first, second) = part.promise.calendar, part.series[:2]
    text = drawing(first, calendar).decode()
    assert f'role="img" aria-label="{description(first, calendar)}"' in text
    assert drawing(second, calendar) != drawing(first, calendar)
    assert drawing(first, calendar).decode() == text
    assert " id=" not in text  # several drawings share a page


class _Outline(HTMLParser):
    """Which tags there are, and what they point to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.targets += [v or "" for name, v in attrs if name in ("src", "href", "xlink:href")]


def outline(text: str) -> _Outline:
    found = _Outline()
    found.feed(text)
    return found


def test_texts_of_the_study_are_escaped(tmp_path: Path) -> None:
    study = promise(
        title=HOSTILE,
        population=HOSTILE,
        publisher=HOSTILE,
        bound={"degree": 12, "justification": HOSTILE},
        budget={"epsilon": "2", "justification": HOSTILE},
        series=[promise().to_data()["series"][0] | {"justification": HOSTILE}],
    )
    page = write(write_part(tmp_path, study, published(study, 1)))[-1]
    text = page.read_text(encoding="utf-8")
    found = outline(text)
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert text.count("&lt;script&gt;") >= 6
    assert "{{ 7 * 7 }}" in text


def test_the_page_points_to_files_of_the_public_part_only(
    public: Path, files: tuple[Path, ...]
) -> None:
    found = outline(files[-1].read_text(encoding="utf-8"))
    assert not {"script", "iframe", "object", "embed"} & set(found.tags)
    # For wide and for narrow screens; and small ones on top and on each card.
    assert found.tags.count("svg") == 2 * 4 + 1 + 4
    for target in found.targets:
        assert target.startswith(("#", "data:,")) or (public / target).is_file(), target


def test_the_page_tells_the_numbers_and_the_head(public: Path, files: tuple[Path, ...]) -> None:
    part, text = PublicPart.read(public), files[-1].read_text(encoding="utf-8")
    assert part.head.hash in text
    for series in part.series:
        for made in series.releases:
            for number in (*made.raw, *made.processed):
                assert f"<td>{figure(number)}</td>" in text
    assert part.promise.bound is not None
    for told in (part.promise.budget.justification, part.promise.bound.justification):
        assert told.replace("'", "&#39;") in text


def test_the_program_on_the_page_checks_the_chain(public: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-c", CHECK]
    done = subprocess.run(program, cwd=public, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == PublicPart.read(public).head.hash
    broken = (public / "ledger.jsonl").read_bytes().replace(b'"step":1', b'"step":2', 1)
    (tmp_path / "ledger.jsonl").write_bytes(broken)
    refused = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "AssertionError" in refused.stderr


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_statistic_has_plain_words(name: str) -> None:
    assert name in COUNTED
    some = next(iter(registered()[name].examples()))
    given = {name: str(value) for name, value in some.written().items()}
    words = COUNTED[name].format(**given)
    assert "{" not in words
    assert all(value in words for key, value in given.items() if key != "window")


def test_unknown_statistics_are_told_by_their_summary() -> None:
    series = part_of(1).series[0]
    other = PublishedSeries(
        **{**vars(series), "statistic": "new", "summary": "number of new things"}
    )
    assert counted_things(other) == "number of new things"


def test_sentences_follow_the_interval() -> None:
    part = part_of(3)
    calendar, last = part.promise.calendar, part.series[0].releases[-1]
    said = reading(part.series[0], last, calendar)
    assert (
        f"is about {last.processed[0]:.0f}, between {last.low[0]} and {last.high[0]}, with" in said
    )
    assert "is at most" in reading(part.series[1], part.series[1].releases[0], calendar)


def test_epsilon_in_words() -> None:
    even, _, rare = certainties(part_of(1).total[0])
    assert even.at_most == pytest.approx(0.8808, abs=1e-4)
    assert even.at_least == pytest.approx(1 - even.at_most)
    assert rare.at_most == pytest.approx(0.01 * 7.389 / (0.99 + 0.01 * 7.389), rel=1e-3)
    assert [chance(p) for p in (0.5, 0.731, 0.9933, 0.001365)] == ["50%", "73%", "99.3%", "0.14%"]
    assert factor(part_of(1).total[0]) == "7.4 times"


@pytest.mark.parametrize("epsilon", ["1000", "0.001"])
def test_extreme_budgets_are_told_without_false_certainty(epsilon: str) -> None:
    part = part_of(1, budget={"epsilon": epsilon, "justification": "a test"}, series=[
        {"name": "people", "statistic": "nodes", "epsilon": epsilon}
    ])  # fmt: skip
    told = [chance(each.at_most) for each in certainties(part.total[0])]
    assert "100%" not in told
    assert factor(part.total[0])
