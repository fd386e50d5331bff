"""Publishing on the page, without scripts: a step is confirmed by its name, and sealed once."""

from __future__ import annotations

import io
import re
import threading
import zipfile
from pathlib import Path

import pytest

from graphveil.steward import publishing
from graphveil.steward.custody import KnownStudy
from graphveil.steward.status import status
from graphveil.steward.verifying import Outcome, verify
from graphveil.web.site import Site
from sites import Visitor, entered, text_of


def publish(visitor: Visitor, study: KnownStudy, through: str, typed: str | None = None) -> str:
    """Send the form, and read on until its work is done."""
    path = f"/study/{study.key}/publish"
    answer = visitor.post(path, through=through, typed=through if typed is None else typed)
    while "/work/" in str(answer.url):
        answer = visitor.get(str(answer.url))
    return text_of(answer.text)


def test_steps_are_published_and_the_page_appears(visitor: Visitor, study: KnownStudy) -> None:
    before = text_of(visitor.get(f"/study/{study.key}/publish").text)
    assert "4 steps have ended and can be published, from 2001 to 2004" in before
    assert "Nothing more: ε = 1 covers all releases" in before
    assert "Published: 2001 to 2002" in publish(visitor, study, "2002")
    page = visitor.get(f"/study/{study.key}/public/report.html")
    assert page.headers["content-type"].startswith("text/html")
    assert "sandbox" in page.headers["content-security-policy"]
    assert page.content == (study.folder / "public" / "report.html").read_bytes()
    assert "Published: 2003" in publish(visitor, study, "2003")
    assert status(study.folder).steps.last_sealed == "2003"


@pytest.mark.parametrize("typed", ["", "2001", "yes", "2002 2003"])
def test_nothing_is_published_without_the_name(
    visitor: Visitor, study: KnownStudy, typed: str
) -> None:
    assert "Nothing was published" in publish(visitor, study, "2002", typed)
    assert status(study.folder).steps.steps_sealed == 0


@pytest.mark.parametrize("label", ["2005", "1999", "x", "../../etc"])
def test_a_step_that_does_not_exist_is_refused(
    visitor: Visitor, study: KnownStudy, label: str
) -> None:
    said = publish(visitor, study, label)
    assert "no step is called" in said or "every step of the calendar" in said
    assert status(study.folder).steps.steps_sealed == 0


def test_a_step_that_has_not_ended_needs_a_mark(site: Site, tmp_path: Path) -> None:
    from dataclasses import replace

    from graphveil.steward import adding, drafting
    from graphveil.steward.custody import opened
    from graphveil.steward.drafting import calendar
    from steward import people
    from study_requests import REQUEST

    drafting.create(tmp_path / "study", replace(REQUEST, calendar=calendar("year", "2400", "2403")))
    adding.add(tmp_path / "study", people(tmp_path / "files"))
    study, visitor = opened(tmp_path / "study"), entered(site)
    path = f"/study/{study.key}/publish"
    assert "2400, has not ended yet" in text_of(visitor.get(path).text)
    said = visitor.done(visitor.post(path, through="2400", typed="2400"))
    assert "mark “Seal it although it has not ended”" in said
    assert status(study.folder).steps.steps_sealed == 0
    visitor.done(visitor.post(path, through="2400", typed="2400", early="yes"))
    while status(study.folder).steps.steps_sealed == 0:
        visitor.get(path)
    assert status(study.folder).steps.last_sealed == "2400"


def test_two_tabs_at_once_publish_one_step_once(site: Site, study: KnownStudy) -> None:
    visitors = [entered(site) for _ in range(4)]
    start = threading.Barrier(len(visitors))
    said: list[str] = []

    def click(visitor: Visitor) -> None:
        start.wait()
        said.append(publish(visitor, study, "2002"))

    threads = [threading.Thread(target=click, args=(each,)) for each in visitors]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(said) == 4
    assert all("Published" in each or "Written again" in each for each in said)
    assert status(study.folder).steps.steps_sealed == 2
    assert verify(study.folder).outcome is Outcome.PASSED


def test_an_interrupted_run_is_finished_and_seals_nothing_more(
    visitor: Visitor, study: KnownStudy
) -> None:
    publishing.publish(study.folder, publishing.PublishRequest(through="2002", report=False))
    path = f"/study/{study.key}/publish"
    assert "An earlier run was interrupted" in text_of(visitor.get(path).text)
    said = visitor.done(visitor.post(path, action="finish"))
    assert "Finished: what was sealed is public" in said
    assert status(study.folder).steps.steps_sealed == 2


def test_the_archive_holds_the_public_part_and_nothing_else(
    visitor: Visitor, study: KnownStudy
) -> None:
    publish(visitor, study, "2001")
    answer = visitor.get(f"/study/{study.key}/public.zip")
    assert re.search(r'filename="[a-z-]+\.zip"', answer.headers["content-disposition"])
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        names = packed.namelist()
        assert packed.testzip() is None
    public = study.folder / "public"
    own = {f"public/{p.relative_to(public).as_posix()}" for p in public.rglob("*") if p.is_file()}
    assert set(names) == own
    assert visitor.get(f"/study/{study.key}/public.zip").content == answer.content


@pytest.mark.parametrize(
    "name",
    ["../private/ledger.sqlite", "..%2Fprivate%2Fledger.sqlite", "%2e%2e/private/README.txt",
     "charts/../../private/README.txt", "/etc/passwd", "//etc/passwd", "report.html%00.txt",
     ".hidden", "link", "charts", "", "study.toml/", "STUDY.TOML "],
)  # fmt: skip
def test_only_public_files_are_served(visitor: Visitor, study: KnownStudy, name: str) -> None:
    publish(visitor, study, "2001")
    (study.folder / "public" / ".hidden").write_text("secret")
    (study.folder / "public" / "link").symlink_to(study.folder / "private" / "README.txt")
    answer = visitor.get(f"/study/{study.key}/public/{name}")
    assert answer.status_code == 404 or (name == "" and "Public page" in answer.text)
    for secret in ("Nothing in this folder may leave", "root:", "SQLite format", "secret"):
        assert secret not in answer.text


def test_the_page_is_written_again(visitor: Visitor, study: KnownStudy) -> None:
    publish(visitor, study, "2001")
    page = study.folder / "public" / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert "written again" in visitor.post(f"/study/{study.key}/public/").text
    assert page.read_bytes() == before


def test_verifying_shows_what_was_found(visitor: Visitor, study: KnownStudy) -> None:
    publish(visitor, study, "2001")
    path = f"/study/{study.key}/verify"
    assert "All checks passed" not in visitor.get(path).text
    assert "All checks passed" in visitor.done(visitor.post(path))
    table = next((study.folder / "public").glob("*.csv"))
    table.write_bytes(table.read_bytes().replace(b"2001", b"2101"))
    said = visitor.done(visitor.post(path))
    assert "A check failed" in said
    assert "“Write the page again” under “Public page” writes it again" in said
    visitor.post(f"/study/{study.key}/public/")
    assert "All checks passed" in visitor.done(visitor.post(path))


def test_a_study_that_may_not_go_on_says_so(visitor: Visitor, study: KnownStudy) -> None:
    import shutil

    shutil.copytree(study.folder, study.folder.parent / "copy")
    publish(visitor, study, "2001")
    answer = visitor.post("/open", at="/", folder="copy")
    assert "does not let the study go on: behind what this machine has seen" in answer.text


def test_a_study_that_is_gone_is_no_page(visitor: Visitor, study: KnownStudy) -> None:
    for key in ("0123456789", "..", "%2e%2e"):
        assert visitor.get(f"/study/{key}/publish").status_code in (403, 404)
    study.folder.rename(study.folder.parent / "elsewhere")
    answer = visitor.get(f"/study/{study.key}/")
    assert answer.status_code == 404
    assert "its folder is gone" in answer.text
