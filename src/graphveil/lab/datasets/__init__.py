"""Datasets: growing graphs by name or path, from the models, from sources and from files."""

from graphveil.lab.datasets.catalogue import Dataset, Entry, dataset, entries, model, names

__all__ = ["Dataset", "Entry", "dataset", "entries", "model", "names"]
