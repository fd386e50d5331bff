"""A real cluster of a master and two workers, as processes here, of which one is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphveil.backends import LocalEngine
from graphveil.statistics.statistic import statistic
from graphveil.study import StoredStudy
from small_sequences import random_growth
from studies import opened

pytestmark = pytest.mark.slow
DRIVER = Path(__file__).with_name("cluster_driver.py")
PORT = 17077
ROUNDS = 4
PATIENCE = 600


def environment() -> dict[str, str]:
    import pyspark

    home = str(Path(pyspark.__file__).parent)
    mine = {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return {**os.environ, **mine}


def started(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    home = environment()["SPARK_HOME"]
    name = f"{command[0].rsplit('.', 1)[-1]}-{len(list(folder.iterdir()))}.log"
    with (folder / name).open("wb") as log:
        return subprocess.Popen(
            [f"{home}/bin/spark-class", *command],
            env=environment(), stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def children(pid: int) -> list[int]:
    """A process and all that it started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    found = listed.read_text().split() if listed.exists() else []
    return [pid, *(each for child in found for each in children(int(child)))]


def kill(process: subprocess.Popen[bytes]) -> None:
    for pid in reversed(children(process.pid)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two workers of one core each, and their master, which is no part of what is given."""
    pytest.importorskip("pyspark", reason="the Spark engine is not installed: graphveil[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is none on this machine")
    logs = tmp_path / "logs"
    logs.mkdir()
    where = ["--host", "127.0.0.1", "--webui-port", "0"]
    deploy = "org.apache.spark.deploy"
    master = started(logs, f"{deploy}.master.Master", *where, "--port", str(PORT))
    time.sleep(15)
    mine = [*where, "--cores", "1", "--memory", "1g"]
    both = [
        started(logs, f"{deploy}.worker.Worker", *mine, "--work-dir", str(tmp_path / f"w{n}"),
                f"spark://127.0.0.1:{PORT}")
        for n in range(2)
    ]  # fmt: skip
    yield both
    for each in (*both, master):
        if each.poll() is None:
            kill(each)


def expected() -> list[list[int]]:
    growth = random_growth(300, 6, 0.05, directed=False, late=True, seed=2)
    members = [statistic("triangles"), statistic("components"), statistic("high-degree", tau=9)]
    counts = LocalEngine(1).count(growth.sequence(), members)
    return [counts.totals(each).tolist() for each in members]


def test_a_worker_that_is_killed_changes_no_integer(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    where = f"spark://127.0.0.1:{PORT}", str(tmp_path / "scratch")
    said = tmp_path / "driver.log"
    with said.open("wb") as log:
        driver = subprocess.Popen(
            [sys.executable, str(DRIVER), *where, str(ROUNDS)],
            env=environment(), stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    assert driver.stdout is not None
    found = []
    for line in driver.stdout:
        found.append(json.loads(line))
        if len(found) == 1:
            kill(workers[0])  # its executor and its Python workers, too, in the next round
    driver.stdout.close()
    assert driver.wait(PATIENCE) == 0, said.read_text()[-2000:]
    assert found == [expected()] * ROUNDS


def test_a_driver_that_is_killed_leaves_a_study_as_it_was(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is none on this machine")
    study = opened(tmp_path / "study")
    rows, scratch = len(study.ledger().rows), tmp_path / "scratch"
    command = [sys.executable, "-m", "graphveil", "publish", str(tmp_path / "study"), "--early"]
    command += ["--engine", "spark", "--master", "local[2]"]
    command += ["--conf", f"spark.graphveil.workspace={scratch}"]
    publishing = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    begun = time.monotonic()
    while not list(scratch.glob("*/edges-*")) and time.monotonic() < begun + PATIENCE:
        assert publishing.poll() is None
        time.sleep(0.05)
    kill(publishing)
    assert len(study.ledger().rows) == rows
    assert StoredStudy.at(tmp_path / "study").publish().steps  # and the local engine goes on
