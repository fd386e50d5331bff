"""Readers: files, frames and other libraries' graphs become records with a place.

A file is bytes within limits (`source_file`). `table_file` turns bytes into rows of cells that
know their place, `columns` says which column is which, and `dates` what dates mean. `readers` has
one file per format; `detection` chooses among them, and `reading` puts all files together.
What is in memory already comes in through `memory`.
"""

from graphveil.records.memory import from_arrays, from_frames, from_networkx, from_rows
from graphveil.records.options import ReadingOptions
from graphveil.records.reading import ReadFiles, read_records
from graphveil.records.table_file import read_pair

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
