"""The table in benchmarks/PROMISES.md is what its program makes of the public networks."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from commands import ROOT

SHARED = ROOT.parent / "shared" / "data"
SMALL = ("hiv-pirc-sandiego", "microbetrace-demo")


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "promises.py"))


def lines_of_the_table() -> list[str]:
    text = (ROOT / "benchmarks" / "PROMISES.md").read_text()
    begin, end = text.index("<!-- promises -->"), text.index("<!-- end of promises -->")
    return text[begin:end].splitlines()[1:]


def test_a_small_network_of_ones_own(program: dict[str, Any], tmp_path: Path) -> None:
    """A star of five, and a pair: six links at one step."""
    people = [f"p{number}" for number in range(8)]
    links = [("p0", f"p{number}") for number in range(1, 6)] + [("p6", "p7")]
    (tmp_path / "nodes.csv").write_text("node,time\n" + "".join(f"{p},2001\n" for p in people))
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in links))
    cells = program["row"](tmp_path)
    assert cells[:5] == [tmp_path.name, "1", "8", "6", "5"]
    assert len(cells) == len(program["HEADER"])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public networks are not here")
def test_the_rows_of_small_networks_are_what_the_program_says(program: dict[str, Any]) -> None:
    shown = lines_of_the_table()
    made = program["table"]([SHARED / name for name in SMALL]).splitlines()
    assert set(made) <= set(shown)
    assert len(shown) == 2 + len([each for each in SHARED.iterdir() if each.is_dir()])
