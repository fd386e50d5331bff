"""The Spark engine: compiled kernels on the workers of a cluster, the graph never in one place."""

from graphveil.backends.spark.engine import SparkEngine
from graphveil.backends.spark.graph import SparkGraph
from graphveil.backends.spark.jobs import SparkCluster
from graphveil.backends.spark.session import opened

__all__ = ["SparkCluster", "SparkEngine", "SparkGraph", "opened"]
