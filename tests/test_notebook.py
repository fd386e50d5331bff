"""The notebook of the examples runs from top to bottom, and shows what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import ROOT

NOTEBOOK = ROOT / "examples" / "study.ipynb"
# In a process of its own, since a notebook's kernel has an event loop and warnings of its own.
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
here = {"metadata": {"path": sys.argv[3]}}
NotebookClient(notebook, timeout=300, kernel_name="python3", resources=here).execute()
nbformat.write(notebook, sys.argv[2])
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The outputs of all cells, one after the other."""
    place = tmp_path_factory.mktemp("notebook")
    done, folder = place / "done.ipynb", str(NOTEBOOK.parent)
    # A kernel spec of this very Python, wherever others are installed.
    spec = place / "kernels" / "python3"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(about))
    private = {"JUPYTER_PATH": str(place), "IPYTHONDIR": str(place), "TMPDIR": str(place)}
    private |= {"JUPYTER_RUNTIME_DIR": str(place / "runtime")}
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(NOTEBOOK), str(done), folder],
        env=os.environ | private, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr[-2000:]
    return [output for cell in cells_of(done) for output in cell.get("outputs", [])]


def cells_of(path: Path) -> list[dict[str, Any]]:
    """A notebook, cell by cell."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def test_the_notebook_runs(executed: list[dict[str, Any]]) -> None:
    pages = [str(output.get("data", {}).get("text/html", "")) for output in executed]
    assert sum("image/svg+xml" in output.get("data", {}) for output in executed) == 1
    assert sum("From the public part alone." in page for page in pages) == 2
    assert not [output for output in executed if output["output_type"] == "stream"]


def test_it_shows_nothing_private(executed: list[dict[str, Any]]) -> None:
    text = json.dumps(executed)
    assert "PRIVATE" not in text
    assert "What was found is private" in text
    people = (ROOT / "examples" / "clinic" / "nodes.csv").read_text().split()[1:]
    assert not [row for row in people if f'"{row.split(",")[0]}"' in text]


def test_it_is_kept_without_outputs() -> None:
    for cell in cells_of(NOTEBOOK):
        assert not cell.get("outputs"), "clear the outputs before you commit it"
        assert cell.get("execution_count") is None


def test_its_links_lead_somewhere() -> None:
    assert (NOTEBOOK.parent / "../docs/python.md").exists()
    assert "study.ipynb" in (ROOT / "examples" / "README.md").read_text()
    assert Path("examples/study.ipynb").name in (ROOT / "docs" / "python.md").read_text()
