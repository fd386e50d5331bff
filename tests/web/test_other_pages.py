"""Rehearsals, backups and adopting, without scripts; and the command that serves it all."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from commands import graphveil
from graphveil.cli.commands import serve
from graphveil.steward.custody import KnownStudy, opened, safekeeping
from graphveil.steward.publishing import PublishRequest, publish
from graphveil.steward.status import status
from graphveil.steward.verifying import Outcome, verify
from graphveil.study.witness import WitnessVerdict
from graphveil.web.site import Site
from sites import Visitor, entered, running, served, small_study, text_of


def test_a_study_is_rehearsed_with_made_up_people(visitor: Visitor, study: KnownStudy) -> None:
    path = f"/study/{study.key}/rehearse"
    assert "would be published" not in visitor.get(path).text
    page = text_of(visitor.get(f"{path}?people=60&links=40&epsilon=1+1/2").text)
    assert "The truth, and what would be published" in page
    assert "published, ε = 1" in page
    assert "published, ε = 0.5" in page
    whole = visitor.get(f"{path}/page?people=60&links=40&epsilon=1/2")
    assert "everybody on this page is made up" in whole.text
    assert "default-src 'none'" in whole.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("wanted", "refusal"),
    [
        ("people=x&links=4", "people: must be a whole number"),
        ("people=60&links=", "links: must be a whole number"),
        ("people=0&links=4", "people: must be from 1"),
        ("people=60&links=4&epsilon=-1", "epsilon: must"),
        ("people=60&links=4&epsilon=1+2+3+4+5", "at most 4 budgets"),
    ],
)
def test_rehearsals_that_cannot_be_are_refused(
    visitor: Visitor, study: KnownStudy, wanted: str, refusal: str
) -> None:
    path = f"/study/{study.key}/rehearse"
    answer = visitor.get(f"{path}?{wanted}")
    assert answer.status_code == 200
    assert refusal in text_of(answer.text)
    assert visitor.get(f"{path}/page?{wanted}").status_code == 409


def test_backups_are_reminded_of(visitor: Visitor, study: KnownStudy) -> None:
    path = f"/study/{study.key}/safekeeping"
    page = text_of(visitor.get(path).text)
    assert "In step." in page
    assert "You have not said yet that there is a backup" in page
    assert str(study.folder) in page
    page = text_of(visitor.post(f"{path}/backup", at=path).text)
    assert "Your last backup holds all there is" in page
    publish(study.folder, PublishRequest())
    assert "entries came since your last backup" in text_of(visitor.get(path).text)
    assert safekeeping(study.folder).since_backup == 3
    visitor.post(f"{path}/backup", at=path)
    assert safekeeping(study.folder).is_backed_up


def test_a_restored_study_that_lacks_a_release_is_not_adopted(
    visitor: Visitor, study: KnownStudy, tmp_path: Path
) -> None:
    publish(study.folder, PublishRequest())
    shutil.copytree(study.folder, tmp_path / "backup")
    publish(study.folder, PublishRequest())
    copy = opened(tmp_path / "backup")
    path = f"/study/{copy.key}/safekeeping"
    page = text_of(visitor.get(path).text)
    assert "Behind what this machine has seen" in page
    assert "can be adopted below, unless a release is missing in it" in page
    refused = visitor.post(f"{path}/adopt", at=path, reason="a broken disk").text
    assert "confirm that no other copy goes on" in refused
    said = visitor.done(visitor.post(f"{path}/adopt", at=path, reason="a disk", alone="yes"))
    assert "this machine has seen releases of this study that this copy lacks" in said
    assert "The study is adopted" not in said
    assert status(copy.folder).verdict is WitnessVerdict.BEHIND


def test_a_copy_on_a_new_machine_is_adopted(
    tmp_path: Path, study: KnownStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(study.folder, PublishRequest())
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "other-machine"))
    copy = opened(study.folder)
    with running(tmp_path) as site:
        visitor = entered(site)
        path = f"/study/{copy.key}/safekeeping"
        assert "Unknown to this machine" in text_of(visitor.get(path).text)
        said = visitor.done(visitor.post(f"{path}/adopt", at=path, reason="moved", alone="yes"))
        assert "The study is adopted" in said
        assert status(copy.folder).verdict.may_go_on


def test_a_draft_has_nothing_to_lose(site: Site, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    draft = small_study(tmp_path / "more", records=False)
    page = text_of(entered(site).get(f"/study/{draft.key}/safekeeping").text)
    assert "There is nothing to lose yet but the study file" in page


def test_the_first_line_is_the_address_and_the_next_one_after_use(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert "/enter?token=" in server.address
        visitor = server.visitor()
        assert server.process.stdout is not None
        following = server.process.stdout.readline().strip()
        assert following.startswith(f"{server.origin}/enter?token=")
        assert following != server.address
        assert visitor.get("/").status_code == 200
        server.process.send_signal(signal.SIGINT)
        rest = server.process.stdout.read()
        assert rest.endswith("Stopped.\n")
        assert server.process.wait() == 0


def test_a_study_is_opened_at_once(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    with served(study.folder) as server:
        page = server.visitor().client.get("/").text
        assert f"/study/{study.key}/" in page


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphveil.web.server", None)
    finished = graphveil("serve", "--no-open")
    assert finished.code == 7
    assert finished.err == f"graphveil: {serve.MISSING}\n"
    assert "pip install 'graphveil[web]'" in serve.MISSING


def test_nothing_of_the_extra_is_loaded_without_serving() -> None:
    probe = (
        "import sys, graphveil.cli; "
        "sys.exit(', '.join({'starlette', 'uvicorn', 'graphveil.web'} & sys.modules.keys()) or 0)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", probe], check=False, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "is not there"),
        (("--address", "0.0.0.0"), "the one address"),
        (("--address", "192.0.2.1"), "needs a password"),
        (("--password-file", "nowhere"), "cannot be read"),
    ],
)
def test_unsafe_wishes_are_refused(arguments: tuple[str, ...], told: str) -> None:
    finished = graphveil("serve", "--no-open", *arguments)
    assert finished.code == 2
    assert told in finished.err


def test_a_port_that_is_taken_is_refused(site: Site) -> None:
    finished = graphveil("serve", "--no-open", "--port", str(site.address.port))
    assert finished.code == 10
    assert "cannot be served" in finished.err


def test_odd_names_among_the_public_files_are_left_out(visitor: Visitor, study: KnownStudy) -> None:
    publish(study.folder, PublishRequest())
    public = study.folder / "public"
    odd = [os.fsdecode(b"\xff.csv"), "a\nb.csv", "\x1b[31m.csv", "\u202egnp.csv"]
    for name in odd:
        (public / name).write_text("x")
    (public / "é ü\u4e2d.csv").write_text("x")
    os.mkfifo(public / "pipe")
    path = f"/study/{study.key}"
    assert visitor.get(f"{path}/public/").status_code == 200
    assert visitor.get(f"{path}/public/é ü\u4e2d.csv").status_code == 200
    packed = visitor.get(f"{path}/public.zip")
    assert packed.status_code == 200
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert "public/é ü\u4e2d.csv" in names
    assert not [name for name in names if name.removeprefix("public/") in [*odd, "pipe"]]
    assert verify(study.folder).outcome is Outcome.PASSED


def test_templates_are_in_the_package() -> None:
    folder = Path(__file__).parents[2] / "src" / "graphveil" / "web"
    assert {path.name for path in (folder / "static").iterdir()} == {"serve.css", "serve.js"}
    assert len(list((folder / "templates").glob("*.jinja"))) > 10
