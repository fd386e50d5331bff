"""`graphveil generate`: a graph drawn from a model, as a native pair of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphveil.cli.options import Json


def generate(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="synthetic-1 or synthetic-2, also with parameters."),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new folder for nodes.csv and edges.csv.")
    ],
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="The same seed draws the same graph.")
    ],
    as_json: Json = False,
) -> None:
    """Draw a graph from one of the paper's models, and write it as nodes.csv and edges.csv.

    Nothing is overwritten, and in the end either both files exist or neither.

    Example: graphveil generate synthetic-1:years=30,yearly=200 my-epidemic --seed 7
    """
    from graphveil.cli.output import print_json, working
    from graphveil.lab.dataset_files import require_new, write_pair
    from graphveil.lab.datasets import model
    from graphveil.startup import load_kernels_without_blas

    require_new(folder)
    _, chosen = model(name)
    with working("Drawing …"):
        load_kernels_without_blas()
        drawn = chosen.draw(seed)
        write_pair(drawn.records(), folder)
    nodes, edges = len(drawn.time), len(drawn.source)
    if as_json:
        result = {"folder": str(folder), "nodes": nodes, "edges": edges}
        print_json(result | {"seed": seed, "model": str(chosen)})
        return
    print(f"{nodes:,} nodes and {edges:,} edges in {folder}")
    print(f"Drawn with seed {seed} from {chosen}")
