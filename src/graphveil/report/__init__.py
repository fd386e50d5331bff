"""The report: a page, charts, a table and a privacy card, from the public part alone."""

from graphveil.report.artefacts import Artefact, artefacts, write

__all__ = ["Artefact", "artefacts", "write"]
