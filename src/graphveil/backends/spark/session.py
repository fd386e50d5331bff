"""A Spark session with safe settings: no pages, no event log, private folders, one address.

Whatever is set by the user, or by the cluster, wins; see docs/spark.md for what should be set.
"""

from __future__ import annotations

import atexit
import math
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import EngineError, ParameterError
from graphveil.hints import Hint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
WORKSPACE = "spark.graphveil.workspace"
TASK_MEMORY = "spark.graphveil.taskMemory"
OWN = {TASK_MEMORY: "1g"}  # settings of ours, with their defaults

_ALWAYS = {
    "spark.ui.enabled": "false",  # its pages show plans and paths to everybody who reaches the port
    "spark.eventLog.enabled": "false",  # nobody would look for private figures there
    "spark.log.level": "OFF",  # what tasks say may hold anything; our errors say what happened
    "spark.sql.execution.arrow.maxRecordsPerBatch": "262144",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # it goes by sizes of files, and ids pack well
    "spark.driver.memory": "1g",
    "spark.ui.showConsoleProgress": "false",
}
_HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}
_ELSEWHERE = {"spark.io.encryption.enabled": "true"}  # of shuffle files on the workers' disks


# Estimates on the safe side of what a task holds at its worst: triangles of graph B with 1g took
# 0.65 GB, and components of ten times its nodes 2.9 GB.
BYTES_AN_EDGE = 96
BYTES_A_NODE = 72
WORKER = 350 << 20  # Python, NumPy, Arrow and the compiled kernels

_SIZE = re.compile(r"([0-9]{1,9})([kmgt]?)b?", re.IGNORECASE)


def is_local(master: str) -> bool:
    """Whether driver and workers are one process on this machine."""
    return master.startswith("local")


def opened(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session of this process: the one that runs already, or a new one.

    Args:
        master: such as local[4] or spark://host:7077; None takes every core of this machine.
        settings: Spark's own, such as {"spark.executor.memory": "4g"}, and ours.
    """
    SparkSession = _imported()  # noqa: N806
    running = SparkSession.getActiveSession()
    if running is not None and (master is None or running.conf.get("spark.master") == master):
        return running
    chosen = master or LOCAL
    if running is not None:
        raise EngineError(
            f"this process has a Spark session already, at another master than {chosen[:80]}. "
            "Stop it first, or leave the master out."
        )
    _require_java()
    builder = SparkSession.builder.appName("graphveil").master(chosen)
    for key, value in _settings(chosen, settings or {}).items():
        builder = builder.config(key, value)
    return _started(builder, chosen)


def _imported() -> type[SparkSession]:
    try:
        import pyarrow  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError(
            "the Spark engine needs PySpark. Install it with `pip install 'graphveil[spark]'`."
        ) from error
    return SparkSession


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise EngineError(
            "the Spark engine needs Java 17 or newer, and none was found. Install it, or set "
            "JAVA_HOME; the local engine needs no Java."
        )


def _settings(master: str, given: Mapping[str, str]) -> dict[str, str]:
    for key in given:
        if not key.startswith("spark."):
            raise ParameterError("conf", f"'{key[:40]}' is no setting of Spark", hint="spark.…=…")
    where = _HERE if is_local(master) else _ELSEWHERE
    folder = {"spark.local.dir": _private_folder()} if is_local(master) else {}
    return {**_ALWAYS, **OWN, **where, **folder, **given}


def _private_folder() -> str:
    """The folder for shuffle files of a local session, until it ends; only the user may read it."""
    folder = tempfile.mkdtemp(prefix="graphveil-spark-")  # 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _started(builder: SparkSession.Builder, master: str) -> SparkSession:
    if is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which no setting does
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*pandas")  # which none of it goes through
            return builder.getOrCreate()
    except Exception as error:  # whatever the gateway to Java raises
        raise EngineError(
            f"Spark did not start at the master {master[:80]}. See its messages above.",
            hint=Hint("master"),
        ) from error


def task_bytes(session: SparkSession) -> int:
    """What one task may hold outside of Java, as the settings say."""
    return bytes_of(str(session.conf.get(TASK_MEMORY, OWN[TASK_MEMORY])), TASK_MEMORY)


def bytes_of(text: str, setting: str) -> int:
    """A size as Spark's settings have it: 512m, 2g."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ParameterError(setting, "must be a size such as 512m or 2g")
    return int(int(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " "))


def colours_for(edges: int, task_bytes: int) -> int:
    """Into how many colours nodes are divided, so that edges among three of them fit a task.

    Such a task has 6 of colours² shares of the edges.
    """
    room = max(task_bytes - WORKER, WORKER) // BYTES_AN_EDGE
    return max(1, math.ceil(math.sqrt(6 * edges / room)))


def require_forest_fits(nodes: int, task_bytes: int) -> None:
    """Refuse components of more nodes than one task can hold."""
    needed = WORKER + nodes * BYTES_A_NODE
    if needed > task_bytes:
        raise EngineError(
            f"components and clusters need one task that holds all nodes, about "
            f"{needed / 2**30:.1f} GiB, and spark.graphveil.taskMemory is "
            f"{task_bytes / 2**30:.1f} GiB. Raise it, with the workers' memory overhead."
        )
