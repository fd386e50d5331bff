"""Readers: files, frames and other libraries' graphs become records with a place."""

from graphveil.formats.memory import from_arrays, from_frames, from_networkx, from_rows
from graphveil.formats.options import ReadingOptions
from graphveil.formats.reading import ReadFiles, read_records
from graphveil.formats.tables.table_file import read_pair

__all__ = [
    "ReadFiles",
    "ReadingOptions",
    "from_arrays",
    "from_frames",
    "from_networkx",
    "from_rows",
    "read_pair",
    "read_records",
]
