"""Which holder goes with which engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.engines import Engine
    from graphveil.study.records.holding import Holder


def holder_of(engine: Engine) -> Holder:
    """Who holds the records that an engine counts."""
    from graphveil.engines.spark.engine import SparkEngine

    if isinstance(engine, SparkEngine):
        from graphveil.study.records.spark.holder import SparkHolder

        return SparkHolder(engine)
    from graphveil.study.records.local.holder import LocalHolder

    return LocalHolder(engine)
