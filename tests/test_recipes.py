"""The script that cron runs publishes, waits where somebody has to look, and tells no counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import ROOT
from steward import drafted, people


def quarterly(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What cron would run, and mail."""
    script = [str(ROOT / "examples" / "quarterly.sh"), *map(str, arguments)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(script, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name == "nt", reason="cron and sh are not there")
def test_a_quarter_is_published_by_cron_unless_somebody_has_to_look(tmp_path: Path) -> None:
    study, web = drafted(tmp_path / "study"), tmp_path / "web"
    files = people(tmp_path / "files")
    done = quarterly(study, web, *files)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (web / "report.html").read_bytes() == (study / "public" / "report.html").read_bytes()
    assert not list(web.rglob("*.sqlite"))
    assert "PRIVATE" in (study / "private" / "quarterly.log").read_text()
    published = (web / "releases.csv").read_bytes()

    assert quarterly(study, web, *files).returncode == 0, "the same files, once more"
    (tmp_path / "files" / "broken.csv").write_text("nod,tim\nsecret,2001\n")
    stopped = quarterly(study, web, tmp_path / "files" / "broken.csv")
    assert stopped.returncode == 3
    assert stopped.stdout == ""
    assert "secret" not in stopped.stderr
    assert stopped.stderr.count("\n") == 1
    assert (web / "releases.csv").read_bytes() == published
