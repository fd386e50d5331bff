"""Options that several commands share, and the values they stand for."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound


class IfBroken(StrEnum):
    """What to do where somebody breaks the promised bound."""

    CONTINUE = "continue"
    REFUSE = "refuse"


def guarded(folder: Path) -> Path:
    """The folder of a study; whoever names it is told if others can read its secrets."""
    from graphveil.steward.exposure import exposure

    warn(exposure(folder))
    return folder


def warn(found: object) -> None:
    """Say on standard error what a steward should change; nothing of None."""
    if found is not None:
        print(f"graphveil: WARNING: {found}", file=sys.stderr)


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
Hubs = Annotated[
    str | None,
    typer.Option(
        "--hubs",
        metavar="H",
        help="Links to at most H people beyond the bound; IxO for in- and out-hubs.",
    ),
]
Breaking = Annotated[
    IfBroken | None,
    typer.Option(
        "--if-broken",
        help="Where somebody breaks the bound: go on, at the cost of those concerned (the "
        "default), or refuse the step.",
        show_default=False,
    ),
]
NoPromise = Annotated[
    bool, typer.Option("--no-bound", help="Promise nothing about links; all series must project.")
]
Projection = Annotated[
    str | None,
    typer.Option("--projection", metavar="D|IxO", help="Threshold of a projection."),
]
Prices = Annotated[
    list[str] | None,
    typer.Option(
        "--price", metavar="NAME=E", help="What may be paid for a series, where it has a price."
    ),
]
Minimise = Annotated[
    str | None,
    typer.Option(
        "--minimise",
        metavar="WHAT",
        help="Error to keep small: mean, relative, last, worst, differences or windows:K.",
    ),
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
    degree: int | None,
    inward: int | None,
    outward: int | None,
    *,
    oriented: bool,
    hubs: str | None = None,
    if_broken: IfBroken | None = None,
) -> Bound:
    """The promise that the options describe; with hubs, it depends on who keeps it."""
    from graphveil.graph.promises.bound import DegreeBound, InOutBound

    if degree is not None and inward is None and outward is None and not oriented:
        return _with_hubs(DegreeBound(degree), hubs, if_broken)
    if degree is None and inward is not None and outward is not None:
        return _with_hubs(InOutBound(inward, outward, oriented), hubs, if_broken)
    if hubs is not None and degree is None and inward is None and outward is None:
        raise ParameterError(
            "hubs",
            "are people with more links than a bound, and there is none",
            hint="Give --bound D as well, or --in-bound I and --out-bound O.",
        )
    raise ParameterError(
        "bound",
        "give either --bound D (undirected), or --in-bound I and --out-bound O (directed)",
        hint="--oriented can only be used with the second.",
    )


def chosen_threshold(projection: str | None) -> DegreeBound | InOutBound | None:
    """The threshold of a projection, if there is to be one."""
    from graphveil.graph.promises.bound import DegreeBound, InOutBound
    from graphveil.steward.beforehand.series_syntax import projection_of

    if projection is None:
        return None
    numbers = projection_of(projection)
    return DegreeBound(numbers) if isinstance(numbers, int) else InOutBound(*numbers)


def promised_nothing(*promised: object) -> None:
    """Refuse --no-bound beside what is a promise after all."""
    if any(each is not None for each in promised):
        raise ParameterError(
            "no-bound",
            "cannot be used with --bound, --in-bound, --out-bound, --oriented, --hubs, --if-broken "
            "or --bound-reason",
            hint="Leave them out, or promise a bound.",
        )


def _with_hubs(
    within: DegreeBound | InOutBound, hubs: str | None, if_broken: IfBroken | None
) -> Bound:
    """The bound, or the promise with hubs around it."""
    from graphveil.graph.promises.hub_bound import HubBound

    if hubs is None:
        return within
    promised = HubBound(within, hub_numbers(hubs))  # which refuses that there be none
    promised.require_sense()
    return replace(promised, checked=if_broken is IfBroken.REFUSE)


def hub_numbers(text: str) -> tuple[int, ...]:
    """How many hubs: H, or IxO for in- and out-hubs."""
    found = re.fullmatch(r"([0-9]+)(?:x([0-9]+))?", text)
    if found is None:
        problem = f"must be a number, or IxO for in- and out-hubs, not '{text}'"
        raise ParameterError("hubs", problem)
    return tuple(int(number) for number in found.groups() if number is not None)
