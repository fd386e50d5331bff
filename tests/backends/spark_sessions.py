"""One Spark session for all tests of a process; none where there is no Java."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "512m",
    "spark.sql.codegen.wholeStage": "false",  # which compiles Java for each of many queries
    # Tables are so small here that nothing pays off of what Java optimises on the way.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def local_session() -> SparkSession:
    """The session of this process, on two cores."""
    pytest.importorskip("pyspark", reason="the Spark engine is not installed: graphveil[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is none on this machine")
    from graphveil.backends.spark import opened

    return opened("local[2]", SETTINGS)
