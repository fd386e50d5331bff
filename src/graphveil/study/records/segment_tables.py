"""The tables of a segment: one form, whoever writes them.

A segment is what one or several steps add that were sealed together. Its nodes in label order,
each with the step that its record stated and the number of its prompt edges; and its edges: first
the prompt ones in list order, then the late ones by step, newer and older end. Each row says its
step; in studies from before that, only where a segment has several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import BOTH

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.intake.id_table import Ids

Int32s = NDArray[np.int32]


def node_table(ids: Ids, stated: Int32s, links: Int32s, steps: Int32s) -> pl.DataFrame:
    """Nodes in label order."""
    import polars as pl

    return pl.DataFrame({"node": ids, "stated": stated, "links": links, "step": steps})


def edge_table(newer: Int32s, entries: Int32s, steps: Int32s, *, late: bool) -> pl.DataFrame:
    """Edges of one kind, in order."""
    import polars as pl

    return pl.DataFrame(
        {
            "newer": newer,
            "older": entries >> np.int32(2),
            "direction": (entries & BOTH).astype(np.uint8),
        }
    ).with_columns(late=pl.lit(late), step=pl.Series(steps))
