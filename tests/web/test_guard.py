"""Who is let in: nobody without the cookie, nobody by another name, no form of another site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphveil.errors import ParameterError
from graphveil.steward.custody import known_studies
from graphveil.web.guard import MOST_SESSIONS, Access, Password
from graphveil.web.pages import ROUTES
from graphveil.web.server import ServeOptions, require_safe
from graphveil.web.site import Site
from sites import entered, running, small_study, stranger

NAMES = {"key": "0123456789", "kind": "publish", "name": "x", "picture": "errors.svg"}


def _paths(method: str) -> list[str]:
    """Every path that takes a method, but for the door, with names in the place of parameters."""
    paths = (each.path for each in ROUTES if method in (each.methods or ()))
    named = (re.sub(r"{(\w+)(:\w+)?}", lambda found: NAMES[found[1]], path) for path in paths)
    return sorted({path for path in named if path != "/enter"})


READ, WRITTEN = _paths("GET"), _paths("POST")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with one small study."""
    home = tmp_path_factory.mktemp("home")
    small_study(home)
    with running(home) as site:
        yield site


@pytest.fixture(scope="module")
def own_pages(site: Site) -> list[str]:
    """Every page, of the study where it is of one."""
    [key] = [each.key for each in known_studies(site.home) if each.folder.parent == site.home]
    return [path.replace(NAMES["key"], key) for path in READ]


@pytest.mark.parametrize("path", READ)
def test_nobody_reads_a_page_without_a_cookie(site: Site, path: str) -> None:
    answer = stranger(site).get(path)
    assert answer.status_code == 403
    assert "This page is closed" in answer.text


@pytest.mark.parametrize("path", WRITTEN)
def test_nobody_sends_a_form_without_a_cookie(site: Site, path: str) -> None:
    assert stranger(site, origin=site.address.url).post(path, data={"csrf": "x"}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example:PORT", "evil.example", "127.0.0.1", "127.0.0.1.evil:PORT",
             "127.0.0.1:1", "LOCALHOST.:PORT", "x"],
)  # fmt: skip
def test_a_name_that_was_pointed_here_opens_nothing(site: Site, host: str) -> None:
    """DNS rebinding: the browser sends its cookie, but names the attacker's host."""
    host = host.replace("PORT", str(site.address.port))
    visitor = entered(site)
    for path in ("/", "/static/serve.css", f"/enter?token={site.access.token}"):
        answer = visitor.client.get(path, headers={"host": host})
        assert answer.status_code == 421, path
    token = site.access.token
    assert visitor.client.post("/open", headers={"host": host}).status_code == 421
    assert site.access.token == token


def test_both_names_of_this_machine_are_known(site: Site) -> None:
    visitor = entered(site)
    for host in ("127.0.0.1", "localhost"):
        assert (
            visitor.client.get("/", headers={"host": f"{host}:{site.address.port}"}).status_code
            == 200
        )


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:PORT"},  # another site to a browser, which is told so
        {"origin": "https://127.0.0.1:PORT"},
        {"origin": "OWN", "sec-fetch-site": "cross-site"},
        {"origin": "OWN", "sec-fetch-site": "same-site"},
        {},  # browsers always say where a form comes from
    ],
)
def test_forms_of_other_sites_are_refused(site: Site, path: str, headers: dict[str, str]) -> None:
    """Even if they had cookie and token."""
    visitor, port = entered(site), str(site.address.port)
    headers = {
        name: text.replace("PORT", port).replace("OWN", site.address.url)
        for name, text in headers.items()
    }
    found = re.search(r'name="csrf" value="([^"]+)"', visitor.get("/").text)
    assert found
    answer = visitor.client.post(path, data={"csrf": found[1]}, headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("token", ["", "x", "of another session"])
def test_forms_without_their_token_are_refused(
    site: Site, own_pages: list[str], path: str, token: str
) -> None:
    other = entered(site)
    if token:
        found = re.search(r'name="csrf" value="([^"]+)"', other.get("/").text)
        assert found
        token = found[1] if "another" in token else token
    visitor = entered(site)
    files = {"file": ("x.csv", b"x")} if path.endswith("upload") else None
    path = path.replace(NAMES["key"], own_pages[-1].split("/")[2])
    answer = visitor.client.post(
        path, data={"csrf": token}, headers={"origin": site.address.url}, files=files
    )
    assert answer.status_code in (403, 415)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_do_nothing(site: Site, method: str) -> None:
    visitor = entered(site)
    answer = visitor.client.request(method, "/", headers={"origin": site.address.url})
    assert answer.status_code in (403, 405)


def test_a_token_is_good_once(site: Site) -> None:
    token = site.access.token
    entered(site)
    assert site.access.token != token
    answer = stranger(site).get(f"/enter?token={token}")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "x", "é", "\0"])
def test_a_wrong_token_opens_nothing(site: Site, token: str) -> None:
    answer = stranger(site).get("/enter", params={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    answer = stranger(site).get(f"/enter?token={site.access.token}")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"graphveil-{site.address.port}=")
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))


def test_every_answer_forbids_storing_and_foreign_content(site: Site, own_pages: list[str]) -> None:
    visitor = entered(site)
    for path in (*own_pages, "/static/serve.js", "/static/no.css", "/enter", "/nowhere"):
        answer = visitor.get(path)
        assert answer.headers["cache-control"] == "no-store", path
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "http" not in policy
        assert "script-src 'self'" in policy or "script" not in policy
        assert "'unsafe" not in policy.replace("style-src 'unsafe-inline'; img-src data:;", "")
        assert answer.headers["referrer-policy"] == "same-origin"


def test_no_page_has_a_script_or_style_of_its_own(site: Site, own_pages: list[str]) -> None:
    visitor = entered(site)
    for path in own_pages:
        page = visitor.get(path).text
        assert not re.search(
            r"<script(?! src=\"/static/)|<style| style=| on\w+=\"|javascript:", page
        )
        assert not re.search(r"(src|href)=\"(https?:)?//", page), path


def test_urls_say_nothing_of_folders_or_files(site: Site, own_pages: list[str]) -> None:
    visitor = entered(site)
    for path in own_pages:
        answer = visitor.get(path)
        for link in (
            str(answer.url),
            *re.findall(r"(?:href|action|src)=\"([^\"]*)\"", answer.text),
        ):
            assert str(site.home) not in link
            assert site.home.name not in link
            keys = re.findall(r"/study/(\w+)", link)
            assert all(re.fullmatch("[0-9a-f]{10}", key) for key in keys)


def test_an_error_that_nobody_foresaw_says_nothing_private(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("patient P7 has 3 links")

    monkeypatch.setattr("graphveil.web.pages.studies.known_studies", fail)
    answer = entered(site).get("/")
    assert answer.status_code == 500
    assert "internal error (ValueError in test_guard.py" in answer.text
    assert "P7" not in answer.text
    assert capfd.readouterr() == ("", "")


def test_a_password_is_asked_for_besides_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphveil.web.guard.PAUSE", 0)
    with running(tmp_path, "a long password") as site:
        client, token = stranger(site), site.access.token
        assert "Password" in client.get(f"/enter?token={token}").text
        assert client.get("/").status_code == 403

        def answer(password: str, token: str = token) -> int:
            sent = {"token": token, "password": password}
            origin = {"origin": site.address.url}
            return client.post("/enter", data=sent, headers=origin).status_code

        assert answer("wrong") == 403
        assert answer("a long password", "x") == 403
        assert client.get("/").status_code == 403
        assert answer("a long password") == 200
        assert client.get("/").status_code == 200


@pytest.mark.parametrize("host", ["192.168.1.20", "example.org", "::1"])
def test_another_address_needs_a_password(tmp_path: Path, host: str) -> None:
    for password in (None, "", "short"):
        with pytest.raises(ParameterError, match="needs a password"):
            require_safe(ServeOptions(tmp_path, host=host, password=password))
    require_safe(ServeOptions(tmp_path, host=host, password="a long password"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_all_addresses_at_once_are_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(ParameterError, match="the one address"):
        require_safe(ServeOptions(tmp_path, host=host, password="a long password"))


def test_old_sessions_are_forgotten() -> None:
    access = Access()
    sessions = [access.enter(access.token) for _ in range(MOST_SESSIONS + 1)]
    first, *others = (each.cookie for each in sessions if each)
    assert access.session(first) is None
    assert all(access.session(each) for each in others)


def test_a_password_is_kept_as_a_hash_only() -> None:
    kept = Password.of("a long password")
    assert kept.fits("a long password")
    assert not kept.fits("a long Password")
    assert b"long" not in kept.hash + kept.salt
    assert "long" not in repr(kept)
