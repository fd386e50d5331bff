"""What files and options say reaches the terminal as text: shown, never obeyed."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from commands import graphveil
from graphveil.cli.output import PlainText, one_line, print_json, print_table, shown, text_only
from steward import NODES, PROMISE, SERIES, drafted, people

ESCAPES = {
    "clear the screen": "\x1b[2J",
    "name the window": "\x1b]0;owned\x07",
    "8-bit sequence": "\x9b31m",
    "bell": "\x07",
    "back over it": "\x08\x08",
    "to the left": "\u202e\u2066",
    "carriage return": "\rAll checks passed.",
    "half a pair": "\udc9b",
}
FORBIDDEN = set("".join(ESCAPES.values())) - set("[2J]0;owned31mAll checks passed.")


class Terminal(io.StringIO):
    """A stream that says that it is one."""

    def isatty(self) -> bool:
        return True


def require_plain(text: str) -> None:
    assert not FORBIDDEN & set(text), text


@pytest.mark.parametrize("kind", ESCAPES)
def test_control_characters_are_written_out(kind: str) -> None:
    require_plain(shown(f"a {ESCAPES[kind]} b"))
    assert shown("\x1b[2J\u202e") == "\\x1b[2J\\u202e"
    assert one_line("a\n\tb") == "a\\n\\tb"
    assert shown("Ελλάδα, می\u200cخواهم\n\tü") == "Ελλάδα, می\u200cخواهم\n\tü"


@pytest.mark.parametrize("kind", [kind for kind in ESCAPES if kind != "half a pair"])
def test_titles_reach_the_terminal_as_text(tmp_path: Path, kind: str) -> None:
    """A study file from somebody else, whose texts hold sequences and the marks of a table."""
    root = drafted(tmp_path / "study")
    text = (root / "public" / "study.toml").read_text()
    evil = json.dumps(f"[red]x[/red] [link=http://e]y[/link] {ESCAPES[kind]}").replace("\x7f", "")
    (root / "public" / "study.toml").write_text(text.replace('"A study for tests"', evil))
    for command in ("status", "plan"):
        for more in ((), ("--json",)):
            ended = graphveil(command, str(root), *more)
            assert ended.code == 0, ended.err
            require_plain(ended.out + ended.err)
            assert "[link=http://e]y" in ended.out or command == "plan"
            if more:
                json.loads(ended.out)


@pytest.mark.parametrize("kind", [kind for kind in ESCAPES if kind != "half a pair"])
def test_records_and_options_reach_the_terminal_as_text(tmp_path: Path, kind: str) -> None:
    evil = ESCAPES[kind]
    root = drafted(tmp_path / "study")
    header = f'node,time,"{evil}"\n' + NODES.split("\n", 1)[1].replace("\n", f',"{evil}"\n')
    for nodes in (NODES.replace("2001", evil), NODES + f'"{evil}",2001\n', header):
        nodes_file, edges_file = people(tmp_path / "files", nodes=nodes)
        for more in ((), ("--json",)):
            ended = graphveil(
                "add", str(root), str(nodes_file), str(edges_file), "--dry-run", *more
            )
            require_plain(ended.out + ended.err)
    for arguments in (
        ("status", f"study {evil}"),
        ("add", str(root), f"{evil}.csv"),
        ("plan", evil),
        (f"{evil}",),
        ("status", str(root), f"--{evil}"),
        ("series", str(root), "--open", evil),
        ("new", str(tmp_path / f"n{evil}"), *PROMISE, *SERIES, "--series", evil),
    ):
        ended = graphveil(*arguments)
        assert ended.code not in (0, 70)
        require_plain(ended.out + ended.err)


def test_an_error_cannot_pretend_to_be_several(tmp_path: Path) -> None:
    ended = graphveil("status", str(tmp_path / "x\ngraphveil: All checks passed."))
    assert not any(line.startswith("graphveil: All") for line in ended.err.splitlines())


def test_tables_and_json_are_clean_on_a_terminal_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a terminal, rich writes sequences of its own: none of them comes from the text."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("TERM", "dumb")
    evil = "[bold]" + "".join(ESCAPES.values())
    with text_only():
        print_table(evil, (evil, "b\nc"), [(evil, 1)])
        print_json({evil: evil})
        print(evil)
    require_plain(stream.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", ""))
    assert stream.getvalue().count("[bold]") == 6


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "koi8-r"])
def test_a_table_is_drawn_on_a_terminal_that_knows_few_letters(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    with text_only():
        print_table("loss ε", ("ε", "σ"), [("näive 東", 1)])
    said = raw.getvalue().decode(encoding)
    assert "\\u03b5" in said
    assert "\\u6771" in said
    assert ("ä" in said) == (encoding in ("cp1252", "latin-1"))


def test_what_an_encoding_lacks_is_written_out() -> None:
    raw = io.BytesIO()
    stream = PlainText(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    stream.writelines(["ε = 1\n"])
    assert raw.getvalue() == b"\\u03b5 = 1\n"
    assert not hasattr(stream, "buffer")
