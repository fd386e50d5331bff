"""The guide to the attack kit keeps its word."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from graphveil.statistics.statistic import registered

GUIDE = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_guide_says(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```\n\nIt prints\n\n```\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    script = tmp_path / "own_statistic.py"
    script.write_text(found[1], encoding="utf-8")
    printed = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    ).stdout
    assert printed == found[2]


def test_the_tally_names_every_statistic() -> None:
    rows = re.findall(r"^\| ([a-z, -]+) \| (?:undirected|directed) ", GUIDE, re.MULTILINE)
    assert sorted(", ".join(rows).split(", ")) == sorted(registered())
