"""`formats`, `statistics`, `sensitivity`: what is read and counted, and how one person matters."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.ending import HINTS
from graphveil.cli.options import (
    Breaking,
    Degree,
    Hubs,
    Inward,
    Json,
    Name,
    Oriented,
    Outward,
    chosen_bound,
    given_parameters,
)
from graphveil.cli.output import one_line, print_json, print_note, print_table
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.hints import in_words

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound
    from graphveil.records import ReadingOptions
    from graphveil.statistics.sensitivity import Sensitivity
    from graphveil.statistics.statistic import Statistic
    from graphveil.steward.previewing import ExplainedFile

_GUESSED_DISTANCE = {"snps": "12"}
_USUAL_DISTANCE = "0.015"


@taking_reading_options
def formats(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Files to explain; none: list all formats."),
    ] = None,
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """List the file formats, or explain what would be read of certain files, and how.

    No study is needed, and nothing is kept. What is said about files is private.

    Example: graphveil formats

    Example: graphveil formats cases.xlsx contacts.csv --time onset
    """
    if not files:
        _list(as_json=as_json)
        return
    from graphveil.steward.previewing import PRIVATE, explained

    explanation = explained(files, format=reading.format, options=reading.options)
    command = _command(files, explanation.files, reading.options)
    if as_json:
        print_json(explanation.as_data() | {"command": command})
        return
    print_note(PRIVATE)
    for line in explanation.lines():
        print(one_line(in_words(line, HINTS)))
    if explanation.refusal:
        print(one_line(f"Try: {command}"))


def _list(*, as_json: bool) -> None:
    from dataclasses import asdict

    from graphveil.steward.previewing import known_formats

    known = known_formats()
    if as_json:
        print_json([asdict(each) for each in known])
        return
    rows = [(each.name, each.looks) for each in known]
    print_table("formats", ("name", "files"), rows, text_columns=2)
    print("Tables may be CSV, Parquet, Excel sheets, databases or R's data; packed or not.")
    print("What would be read of a file: graphveil formats FILE")


def _command(
    files: Sequence[str | Path], each: Sequence[ExplainedFile], options: ReadingOptions
) -> str:
    """A command with the options that are likely to be missing."""
    words = ["graphveil", "add", "STUDY", *map(str, files), *_already(options)]
    dates = [file.dates[0] for file in each if file.dates and file.lists != "edges"]
    own = any("time" in map(str.lower, file.columns) for file in each if file.lists != "edges")
    if options.time is None and dates and not own:
        words += ["--time", dates[0]]
    distances = [name for file in each for name in file.distances]
    if options.threshold is None and options.distance is None and distances:
        words += ["--max-distance", _threshold(distances[0])]
    return " ".join(shlex.quote(word) for word in words)


def _already(options: ReadingOptions) -> list[str]:
    """The given options, as the shell takes them."""
    words = []
    for name in ("id", "source", "target", "time", "edge_time", "distance", "max_distance"):
        if getattr(options, name) is not None:
            words += [f"--{name.replace('_', '-')}", getattr(options, name)]
    for each in options.where:
        words += ["--where", each]
    if options.day_first is not None:
        words.append("--day-first" if options.day_first else "--month-first")
    return words


def _threshold(column: str) -> str:
    from graphveil.records.options import unit_of

    return _GUESSED_DISTANCE.get(unit_of(column) or "", _USUAL_DISTANCE)


def statistics(as_json: Json = False) -> None:
    """List every statistic with the formula of its sensitivity Γ.

    Γ is the most that one person can change in the whole difference sequence. D is the
    degree bound; Din and Dout bound in- and out-degrees, m is the smaller of the two and
    M the larger.

    Example: graphveil statistics
    """
    from graphveil.statistics.statistic import registered

    members = registered().values()
    if as_json:
        print_json([_described(member) for member in members])
        return
    print_table(
        "Statistics",
        ("name", "parameters", "counts", "Γ, undirected", "Γ, directed"),
        (
            (
                member.name,
                " ".join(f"--{each.name}" for each in member.parameters()),
                member.summary,
                member.formulas.get("undirected"),
                member.formulas.get("directed"),
            )
            for member in members
        ),
        text_columns=5,
    )
    print(
        "Every statistic takes --window N: then only people who arrived in the last N steps count, "
        "and links among them."
    )


def _described(member: type[Statistic]) -> dict[str, Any]:
    return {
        "name": member.name,
        "counts": member.summary,
        "parameters": [each.name for each in member.parameters()],
        "graphs": member.domain.value,
        "formulas": member.formulas,
    }


def sensitivity(
    context: typer.Context,
    name: Name,
    degree: Degree = None,
    inward: Inward = None,
    outward: Outward = None,
    oriented: Oriented = False,
    hubs: Hubs = None,
    if_broken: Breaking = None,
    as_json: Json = False,
) -> None:
    """Show how much one person can change a statistic under a degree bound.

    Example: graphveil sensitivity high-degree --tau 3 --bound 15

    Example: graphveil sensitivity edges --bound 10 --hubs 2
    """
    from graphveil.statistics.change import sensitivity_under
    from graphveil.statistics.statistic import statistic as named_statistic

    statistic = named_statistic(name, **given_parameters(context))
    bound = chosen_bound(degree, inward, outward, oriented=oriented, hubs=hubs, if_broken=if_broken)
    change = sensitivity_under(statistic, bound)
    if as_json:
        print_json(_sensitivity_data(statistic, bound, change))
    else:
        _print_sensitivity(statistic, bound, change)


def _sensitivity_data(statistic: Statistic, bound: Bound, change: Sensitivity) -> dict[str, Any]:
    from graphveil.statistics.change import shape_under

    shape = shape_under(statistic, bound)
    return {
        "statistic": str(statistic),
        "bound": str(bound),
        "l1": change.l1,
        "static_l1": change.static_l1,
        "l2_squared": change.l2_squared,
        "l2": change.l2,
        "variation_squared": change.variation_squared,
        "edge_l1": change.edge_l1,
        "exact": change.exact,
        "exact_for": sorted(change.exact_for),
        "shape": shape.to_dict() | {"words": shape.words()},
        "paper": change.paper,
        "assumption": change.assumption,
        "proof": change.proof,
    }


def _print_sensitivity(statistic: Statistic, bound: Bound, change: Sensitivity) -> None:
    from graphveil.statistics.change import shape_under

    whole = "the whole difference sequence"
    if statistic.counted_for is not None:
        whole = "all releases together"

    def row(scope: str, measure: str, value: object, paper: int | None = None) -> list[object]:
        return [scope, value, "exact" if measure in change.exact_for else "upper bound", paper]

    print_table(
        f"{statistic}: {bound}",
        ("what one person can change", "at most", "", "the paper"),
        (
            row(f"{whole}, L1", "l1", change.l1, change.paper),
            row("one release, L1", "static_l1", change.static_l1),
            row(f"{whole}, L2", "l2_squared", f"√{change.l2_squared:,}"),
            row("one edge instead of one person, L1", "edge_l1", change.edge_l1),
        ),
    )
    print(f"Shape: {shape_under(statistic, bound).words()}")
    print(f"Assumption: {change.assumption}")
    print(f"Proof: {change.proof}")
