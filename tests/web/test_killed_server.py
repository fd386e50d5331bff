"""A server that is killed in the middle of each flow: nothing is half, and the next one goes on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from graphveil.steward.custody import KnownStudy, known_studies, opened
from graphveil.steward.staging import StagingArea
from graphveil.steward.status import status
from graphveil.steward.verifying import Outcome, verify
from sites import Served, Visitor, served, small_study
from steward import EDGES, NODES
from test_promise_page import FORM

# Whenever the kill comes, the same has to hold; these are moments in the middle of most flows.
MOMENTS = [
    0.02,
    pytest.param(0.15, marks=pytest.mark.slow),
    pytest.param(0.6, marks=pytest.mark.slow),
]


@pytest.fixture(autouse=True)
def fresh_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "state"))


def killed(server: Served, act: Callable[[Visitor], object], after: float) -> None:
    """Do something, and kill the server meanwhile."""
    visitor = server.visitor()

    def begin() -> None:
        with suppress(httpx.HTTPError, AssertionError):
            act(visitor)

    thread = threading.Thread(target=begin)
    thread.start()
    time.sleep(after)
    server.kill()
    thread.join()


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


@pytest.mark.parametrize("after", MOMENTS)
def test_while_the_promise_is_made(tmp_path: Path, after: float) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with served(home) as server:
        killed(server, lambda v: v.send("/new", {**FORM, "action": "make"}), after)
    with served(home) as server:
        visitor = server.visitor()
        if not known_studies(home):
            assert visitor.send("/new", {**FORM, "action": "make"}).status_code == 200
        [study] = known_studies(home)
        assert status(study.folder).is_open is False
        assert visitor.get(f"/study/{study.key}/promise").status_code == 200
        assert verify(study.folder).outcome is Outcome.PASSED


def test_while_files_come_in(tmp_path: Path) -> None:
    study = small_study(tmp_path, records=False)
    with served(tmp_path) as server:
        visitor = server.visitor()
        token = visitor.token(f"/study/{study.key}/records")
        [cookie] = [f"{each.name}={each.value}" for each in visitor.client.cookies.jar]
        host = server.origin.removeprefix("http://")
        begun = (
            f"POST /study/{study.key}/records/upload HTTP/1.1\r\nHost: {host}\r\n"
            f"Origin: {server.origin}\r\nCookie: {cookie}\r\nContent-Length: 1000000\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
            f'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{token}\r\n'
            '--b\r\nContent-Disposition: form-data; name="files"; filename="n.csv"\r\n\r\nnode,t'
        )
        name, _, port = host.partition(":")
        with socket.create_connection((name, int(port))) as connection:
            connection.sendall(begun.encode())
            staging = study.folder / "private" / "tray"
            while not files_in(staging):
                time.sleep(0.01)
            server.kill()
    assert [name[:11] for name in files_in(staging)] == [".graphveil-"]
    assert StagingArea.of(study.folder).files() == ()
    with served(tmp_path) as server:
        visitor = server.visitor()
        page = visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
        assert "nodes.csv" in page.text
    assert sorted(files_in(staging)) == ["edges.csv", "nodes.csv"], "what was half there is gone"


@pytest.mark.parametrize("after", MOMENTS)
@pytest.mark.parametrize("flow", [pytest.param("look", marks=pytest.mark.slow), "keep"])
def test_while_records_are_looked_at_or_kept(tmp_path: Path, flow: str, after: float) -> None:
    study = small_study(tmp_path, records=False)
    path = f"/study/{study.key}/records"
    with served(tmp_path) as server:
        visitor = server.visitor()
        visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
        mark = StagingArea.of(study.folder).brought().fingerprint
        following = server.process.stdout.readline().strip() if server.process.stdout else ""
        again = Served(server.process, following)
        killed(again, lambda v: v.post(f"{path}/{flow}", at=path, fingerprint=mark), after)
    assert verify(study.folder).outcome is Outcome.PASSED
    with served(tmp_path) as server:
        visitor = server.visitor()
        if StagingArea.of(study.folder).files():  # as they were: keep them now
            said = visitor.done(visitor.post(f"{path}/look", at=path))
            assert "8 nodes added" in said or "8 nodes already known" in said
            mark = StagingArea.of(study.folder).brought().fingerprint
            visitor.done(visitor.post(f"{path}/keep", at=path, fingerprint=mark))
        assert publish_all(visitor, study).startswith("Published")
    assert verify(study.folder).outcome is Outcome.PASSED


def publish_all(visitor: Visitor, study: KnownStudy) -> str:
    """Finish what was begun, then publish the rest."""
    path = f"/study/{study.key}/publish"
    if not status(study.folder).is_current:
        visitor.done(visitor.post(path, action="finish"))
    if status(study.folder).steps.next_step is not None:
        said = visitor.done(visitor.post(path, through="2004", typed="2004"))
        assert "Published: " in said
    return "Published"


@pytest.mark.parametrize("after", MOMENTS)
def test_while_steps_are_published(tmp_path: Path, after: float) -> None:
    study = small_study(tmp_path)
    path = f"/study/{study.key}/publish"
    with served(tmp_path) as server:
        killed(server, lambda v: v.post(path, through="2003", typed="2003"), after)
    assert verify(study.folder).outcome is not Outcome.FAILED
    sealed = status(study.folder).steps.steps_sealed
    before = (study.folder / "public" / "ledger.jsonl").read_bytes()
    with served(tmp_path) as server:
        publish_all(server.visitor(), study)
    assert status(study.folder).steps.steps_sealed == 4 >= sealed
    assert (study.folder / "public" / "ledger.jsonl").read_bytes().startswith(before)
    assert verify(study.folder).outcome is Outcome.PASSED


def test_while_a_copy_is_adopted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_study(tmp_path)
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "other-machine"))
    copy = opened(study.folder)
    path = f"/study/{copy.key}/safekeeping"
    told = {"reason": "moved", "alone": "yes"}
    with served(tmp_path) as server:
        killed(server, lambda v: v.post(f"{path}/adopt", at=path, **told), 0.05)
    with served(tmp_path) as server:
        visitor = server.visitor()
        if not status(copy.folder).verdict.may_go_on:
            visitor.done(visitor.post(f"{path}/adopt", at=path, **told))
        assert status(copy.folder).verdict.may_go_on
        publish_all(visitor, copy)
    assert verify(copy.folder).outcome is Outcome.PASSED
