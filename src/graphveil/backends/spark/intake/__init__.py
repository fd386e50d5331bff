"""Tables that Spark reads become a graph on the workers, by the very rules of the one intake."""

from graphveil.backends.spark.intake.taking import Taken, begin, extend

__all__ = ["Taken", "begin", "extend"]
