"""A driver on a real cluster, run as a process of its own: counts, and says each total as JSON.

python cluster_driver.py MASTER WORKSPACE ROUNDS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def main(master: str, workspace: str, rounds: int) -> None:
    from graphveil.backends.spark import SparkCluster, SparkEngine, opened
    from graphveil.backends.spark.graph import Workspace, handed_over
    from graphveil.statistics.statistic import statistic
    from small_sequences import random_growth

    settings = {
        "spark.graphveil.workspace": workspace,
        "spark.speculation": "true",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.network.timeout": "60s",
        "spark.executor.heartbeatInterval": "2s",
    }
    session = opened(master, settings)
    growth = random_growth(300, 6, 0.05, directed=False, late=True, seed=2)
    graph = handed_over(growth.sequence(), Workspace.within(workspace), 4)
    members = [statistic("triangles"), statistic("components"), statistic("high-degree", tau=9)]
    for _ in range(rounds):
        counts = SparkEngine(SparkCluster(session)).count(graph, members)
        print(json.dumps([counts.totals(each).tolist() for each in members]), flush=True)
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
