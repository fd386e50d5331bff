"""The Spark engine: compiled kernels on the workers of a cluster, the graph never in one place."""

from graphveil.engines.spark.engine import SparkEngine
from graphveil.engines.spark.graph import SparkGraph
from graphveil.engines.spark.jobs import SparkCluster
from graphveil.engines.spark.session import opened

__all__ = ["SparkCluster", "SparkEngine", "SparkGraph", "opened"]
