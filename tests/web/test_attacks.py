"""Attacks on the page: texts that want to be markup, strange cookies, commands at the same time."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
import webbrowser
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlparse

import httpx
import pytest

from graphveil.steward.custody import KnownStudy, opened
from graphveil.steward.drafting import create
from graphveil.steward.status import status
from graphveil.steward.verifying import Outcome, verify
from graphveil.web.server import opening
from graphveil.web.site import Site
from sites import entered, small_study, stranger
from study_requests import REQUEST

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'{{ 7*7 }}"


def markup_study(home: Path) -> KnownStudy:
    """A study whose words are all markup."""
    words = {"title": MARKUP, "population": MARKUP, "publisher": MARKUP, "bound_reason": MARKUP}
    create(home / "markup", replace(REQUEST, epsilon_reason=MARKUP, **words))  # type: ignore[arg-type]
    return opened(home / "markup")


def is_clean(page: str) -> bool:
    return not any(bad in page for bad in ("<img src=x", "<script>", "onerror=alert(1)>", ">49<"))


def test_words_of_others_are_never_markup(site: Site) -> None:
    study, visitor = markup_study(site.home), entered(site)
    for path in (
        "",
        "promise",
        "records",
        "publish",
        "public/",
        "verify",
        "rehearse",
        "safekeeping",
    ):
        page = visitor.get(f"/study/{study.key}/{path}").text
        assert is_clean(page), path
        assert "alert(2)" in page, "the title stands there, as text"
    assert is_clean(visitor.get("/").text)
    page = visitor.post("/open", at="/", folder=MARKUP).text
    assert is_clean(page)


def test_cells_columns_and_file_names_are_never_markup(site: Site) -> None:
    study, visitor = small_study(site.home, records=False), entered(site)
    rows = f'"{MARKUP.replace(chr(34), "")}",time\n"{MARKUP.replace(chr(34), "")}",2001\n'
    page = visitor.bring(study, {f"{MARKUP}.csv": rows}).text
    assert is_clean(page)
    assert "alert(2)" in page
    path = f"/study/{study.key}/records"
    page = visitor.post(f"{path}/look", at=path, id=MARKUP, where=MARKUP, encoding=MARKUP).text
    assert is_clean(page)


def test_what_is_typed_is_never_markup(site: Site) -> None:
    fields = ("title", "epsilon", "degree", "first", "every", "expected-0", "name-0", "statistic")
    for field in fields:
        told = {"row": "0", "statistic-0": "edges", "kind": "degree", "action": "make"}
        page = entered(site).send("/new", {**told, field: MARKUP}).text
        assert is_clean(page), field


def test_cookies_of_other_programs_do_not_lock_anybody_out(site: Site) -> None:
    visitor = entered(site)
    [own] = [f"{each.name}={each.value}" for each in visitor.client.cookies.jar]
    for other in ('a={"x": [1, 2]}', 'u="2|1:0|x"', "=;;=", "x" * 4000, 'b="', "é=ü"):
        header = f"{other}; {own}".encode()
        answer = stranger(site).get("/", headers=[(b"cookie", header)])
        assert answer.status_code == 200, other


@pytest.mark.parametrize(
    "path",
    ["/static/../application.py", "/static/..%2fapplication.py", "/static/%2e%2e%2fserver.py",
     "/static/", "/static/serve.css%00", "/static//etc/passwd"],
)  # fmt: skip
def test_only_style_and_script_are_static(site: Site, path: str) -> None:
    sent = httpx.Request("GET", site.address.url)
    sent.url = sent.url.copy_with(raw_path=path.encode())
    answer = stranger(site).send(sent)
    assert answer.status_code in (403, 404), path
    assert "import" not in answer.text


def test_a_command_and_the_page_at_once_publish_each_step_once(site: Site) -> None:
    study, visitor = small_study(site.home), entered(site)
    path = f"/study/{study.key}/publish"
    command = [sys.executable, "-m", "graphveil", "publish", str(study.folder), "--all", "--json"]
    done: list[str] = []
    thread = threading.Thread(
        target=lambda: done.append(visitor.done(visitor.post(path, through="2004", typed="2004")))
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        thread.start()
        thread.join()
        told, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(told)
    assert "Published" in done[0] or "Written again" in done[0]
    assert status(study.folder).steps.steps_sealed == 4
    assert verify(study.folder).outcome is Outcome.PASSED


def test_the_browser_is_opened_without_showing_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []
    monkeypatch.setattr(webbrowser, "open", called.append)
    with opening("http://127.0.0.1:1/enter?token=SECRET"):
        [url] = called
        assert "SECRET" not in url
        file = Path(unquote(urlparse(url).path))
        assert "token=SECRET" in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not file.exists()
