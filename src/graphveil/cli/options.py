"""Options that several commands share, and the values they stand for."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.graph.bound import Bound


def guarded(folder: Path) -> Path:
    """The folder of a study; whoever names it is told if others can read its secrets."""
    from graphveil.steward.exposure import exposure

    found = exposure(folder)
    if found is not None:
        print(f"graphveil: WARNING: {found}", file=sys.stderr)
    return folder


StudyFolder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="The folder of the study.", callback=guarded),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from `graphveil statistics`.")]
Degree = Annotated[
    int | None, typer.Option("--bound", metavar="D", help="Degree bound D of an undirected graph.")
]
Inward = Annotated[
    int | None, typer.Option("--in-bound", metavar="I", help="In-degree bound of a directed graph.")
]
Outward = Annotated[
    int | None,
    typer.Option("--out-bound", metavar="O", help="Out-degree bound of a directed graph."),
]
Oriented = Annotated[
    bool, typer.Option("--oriented", help="Reciprocal edges are impossible and refused.")
]
Limit = Annotated[
    str | None,
    typer.Option("--limit", metavar="SIZE", help="Largest file to read, unpacked, such as 2GB."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def most_bytes(limit: str | None) -> int | None:
    """The largest file to read, if the user says so."""
    from graphveil.formats.options import size_of

    return None if limit is None else size_of(limit)


class Undated(StrEnum):
    """What to do with nodes that have no time."""

    REFUSE = "refuse"
    FIRST = "first"


def chosen_bound(
    degree: int | None, inward: int | None, outward: int | None, *, oriented: bool
) -> Bound:
    """The degree bound that the options describe."""
    from graphveil.graph.bound import DegreeBound, InOutBound

    if degree is not None and inward is None and outward is None and not oriented:
        return DegreeBound(degree)
    if degree is None and inward is not None and outward is not None:
        return InOutBound(inward, outward, oriented)
    raise ParameterError(
        "bound",
        "give either --bound D (undirected), or --in-bound I and --out-bound O (directed)",
        hint="--oriented can only be used with the second.",
    )
