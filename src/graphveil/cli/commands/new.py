"""`graphveil new`: a study begins as a draft, which spends nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    Breaking,
    Degree,
    Delta,
    Drowned,
    Expected,
    Hubs,
    IfBroken,
    Inward,
    Json,
    Minimise,
    NoPromise,
    Oriented,
    Outward,
    Undated,
    Weights,
    accept,
    by_series,
    chosen_bound,
    given_in,
    hub_numbers,
    promised_nothing,
    sizes_by_series,
    warn,
    with_options,
)
from graphveil.cli.output import print_json, print_losses, print_outlooks, print_shares, working
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.steward.drafting import Draft
    from graphveil.steward.requests import SeriesRequest

    Given = Mapping[str, Any]  # what was typed, by the option


def new(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder for the study.")],
    study_file: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take everything from a study file, such as another study's study.toml; - reads "
            "it from standard input.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of the public report.")
    ] = None,
    population: Annotated[
        str | None,
        typer.Option("--population", metavar="TEXT", help="Whose network it is, in public words."),
    ] = None,
    publisher: Annotated[
        str | None, typer.Option("--publisher", metavar="TEXT", help="Who publishes it.")
    ] = None,
    degree: Degree = None,
    inward: Inward = None,
    outward: Outward = None,
    oriented: Oriented = False,
    hubs: Hubs = None,
    no_bound: NoPromise = False,
    if_broken: Breaking = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Links have a direction; needs in- and out-bound.")
    ] = False,
    bound_reason: Annotated[
        str | None,
        typer.Option("--bound-reason", metavar="TEXT", help="Why the public may believe it."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="day|week|month|quarter|year|N",
            help="Length of a step; how --first is written decides the unit of N.",
        ),
    ] = None,
    first: Annotated[
        str | None, typer.Option("--first", metavar="TIME", help="Where the first step begins.")
    ] = None,
    last: Annotated[
        str | None,
        typer.Option("--last", metavar="TIME", help="The last step; leave out if unknown."),
    ] = None,
    cuts: Annotated[
        str | None,
        typer.Option("--cuts", metavar="A,B,…", help="Where steps begin, if they are uneven."),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="TIME", help="End of the last step of --cuts.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="Total ε of all series, for the whole study."),
    ] = None,
    epsilon_reason: Annotated[
        str | None, typer.Option("--epsilon-reason", metavar="TEXT", help="Why this much.")
    ] = None,
    delta: Delta = None,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool",
            metavar="E",
            help="Part of ε that Gaussian series (NAME:pool=SHARE) have together; found by itself "
            "for series without a share.",
        ),
    ] = None,
    minimise: Minimise = None,
    series: Annotated[
        list[str] | None,
        typer.Option(
            "--series",
            metavar="STATISTIC[:PARAMETER=VALUE,…][@E][=NAME]",
            help="A series to publish; may be repeated. Those without @E share what is left: in "
            "the best way for their expected sizes, or equally.",
        ),
    ] = None,
    series_reason: Annotated[
        list[str] | None,
        typer.Option("--series-reason", metavar="NAME=TEXT", help="Why this series."),
    ] = None,
    ratio: Annotated[
        list[str] | None,
        typer.Option(
            "--ratio",
            metavar="'NAME = FORMULA'",
            help="A ratio of series, such as 'links per person = 2*links/people'; may be repeated. "
            "It costs nothing.",
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME=A|B|C",
            help="A public list of labels that people have, for series with :by=NAME; of numbers "
            "cut points, as age=0,25,50. May be repeated.",
        ),
    ] = None,
    expected: Expected = None,
    weight: Weights = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="P", help="Confidence level of the intervals.")
    ] = "0.95",
    person_separator: Annotated[
        str,
        typer.Option(
            "--person-separator", metavar="TEXT", help="Text after the person: PERSON|SEQUENCE."
        ),
    ] = "",
    fold_case: Annotated[
        bool, typer.Option("--fold-case", help="Treat Ann and ann as one person.")
    ] = False,
    undated: Annotated[
        Undated, typer.Option("--undated", help="Nodes without a time: refuse, or first open step.")
    ] = Undated.REFUSE,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="PostgreSQL for a team, not SQLite."),
    ] = None,
    yes: Drowned = False,
    as_json: Json = False,
) -> None:
    """Create a study: a folder with a public and a private part. Nothing is spent yet.

    The study is a draft until the first records are added, and its file may be edited until
    then. A series that noise would drown, by the size that is expected of it, is refused
    without --yes. Who would rather not type finds a form in `graphveil serve`.

    Nothing has to be promised about links: each series then counts on a projection, by a
    public rule that the study file shows. A --bound, if one can honestly be promised, can
    mean less noise for some series.

    Example: graphveil new my-study --title "HIV in Rivermouth" --population "people diagnosed
    since 2021" --publisher "Health office" --every year --first 2021 --last 2030
    --epsilon 2 --epsilon-reason "ethics board, 2020" --series nodes --series clusters
    --series high-degree:tau=3@1/2

    Example, with a promise: graphveil new my-study --bound 15 --bound-reason "surveys" …

    Example, from a file: graphveil new my-study --from study.toml
    """
    from graphveil.graph.groups import Groups
    from graphveil.steward import drafting
    from graphveil.steward.requests import StudyRequest
    from graphveil.study.folder import Folder

    Folder(folder.resolve()).require_free()
    if study_file is not None:
        _require_only_a_file(context)
        text = sys.stdin.buffer.read() if study_file == "-" else Path(study_file)
        with working("Planning …"):
            draft = drafting.from_study_file(text)
        _begin(folder, draft, database=database, yes=yes, as_json=as_json)
        return
    promised = (degree, inward, outward, oriented or None, hubs, if_broken, bound_reason)
    if no_bound:
        promised_nothing(*promised)
    given: dict[str, Any] = {
        "title": title, "population": population, "publisher": publisher,
        "bound": degree, "in-bound": inward, "out-bound": outward, "bound-reason": bound_reason,
        "every": every, "first": first, "last": last, "cuts": cuts, "end": end,
        "epsilon": epsilon, "epsilon-reason": epsilon_reason, "series": series or None,
    }  # fmt: skip
    no_bound = all(each is None for each in promised)
    inward_too = directed or oriented or inward is not None or outward is not None
    _require(given, no_bound=no_bound, directed=inward_too)
    with working("Planning …"):
        request = StudyRequest(
            title=given["title"], population=given["population"], publisher=given["publisher"],
            directed=directed or oriented or inward is not None,
            **({} if no_bound else _bound(given, oriented)),
            oriented=oriented, hubs=None if hubs is None else hub_numbers(hubs),
            no_bound=no_bound, if_broken=(if_broken or IfBroken.CONTINUE).value,
            calendar=_calendar(given),
            epsilon=given["epsilon"], epsilon_reason=given["epsilon-reason"],
            delta=delta, pool=pool, minimise=minimise, confidence=confidence,
            groups=Groups.of(group or ()), ratios=tuple(ratio or ()),
            series=_series(series or [], _reasons(series_reason or []), expected, weight),
            person_separator=person_separator, fold_case=fold_case, undated=undated.value,
        )  # fmt: skip
        draft = drafting.draft(request)
    _begin(folder, draft, database=database, yes=yes, as_json=as_json)


def _require(given: Given, *, no_bound: bool, directed: bool) -> None:
    """Refuse to begin without what only the people who are responsible can say."""
    promise: tuple[str, ...] = ()
    if not no_bound:
        numbers = ("in-bound", "out-bound") if directed else ("bound",)
        promise = (*(numbers if given["bound"] is None else ()), "bound-reason")
    steps = ("every", "first") if given["cuts"] is None else ()
    needed = (*_WHO, *promise, *steps, "epsilon", "epsilon-reason", "series")
    missing = [f"--{name}" for name in needed if given[name] is None]
    if missing:
        form = "`graphveil serve` has a form for it, with what each means."
        raise ParameterError("new", f"needs {', '.join(missing)}", hint=form)


_WHO = ("title", "population", "publisher")
_BESIDE_A_FILE = {"folder", "study_file", "database", "yes", "as_json"}


def _require_only_a_file(context: typer.Context) -> None:
    """Refuse whatever the study file says already."""
    if given_in(context) - _BESIDE_A_FILE:
        raise ParameterError(
            "from",
            "takes everything from the study file",
            hint="Leave the other options out, and change the draft's study.toml afterwards.",
        )


def _begin(folder: Path, draft: Draft, *, database: str | None, yes: bool, as_json: bool) -> None:
    """Write the draft, once its noise is accepted, and say what it is."""
    from graphveil.steward.custody import shared_backup

    accept(draft.outlooks, yes=yes)
    draft = draft.write(folder, database=database)
    warn(shared_backup(folder))
    if as_json:
        print_json(draft.as_data())
    else:
        _print(folder, draft)


def _bound(given: Given, oriented: bool) -> dict[str, Any]:
    """The numbers of the bound; refuses half of one."""
    limits = {"degree": given["bound"], "inward": given["in-bound"], "outward": given["out-bound"]}
    chosen_bound(**limits, oriented=oriented)
    return limits | {"bound_reason": given["bound-reason"]}


def _calendar(given: Given) -> Calendar:
    from graphveil.steward.drafting import calendar, calendar_of_cuts

    if given["cuts"] is not None:
        if any(given[name] for name in ("every", "first", "last")):
            raise ParameterError("cuts", "give either --cuts, or --every and --first")
        return calendar_of_cuts(given["cuts"].split(","), given["end"])
    if given["end"] is not None:
        raise ParameterError("end", "can only be used with --cuts", hint="Use --last.")
    return calendar(given["every"], given["first"], given["last"] or None)


def _reasons(given: list[str]) -> dict[str, str]:
    pairs = [each.split("=", 1) for each in given]
    if any(len(pair) < 2 for pair in pairs):
        raise ParameterError("series-reason", "must be written as NAME=TEXT")
    return {pair[0].strip(): pair[1].strip() for pair in pairs}


def _series(
    lines: list[str],
    reasons: dict[str, str],
    expected: list[str] | None,
    weight: list[str] | None,
) -> tuple[SeriesRequest, ...]:
    """The series with reasons and sizes; refuses those for a series that does not exist."""
    from graphveil.steward.requests import SeriesRequest, series_data

    series = [SeriesRequest(**series_data(line.replace(" ", ""))) for line in lines]
    names = [each.called for each in series]
    for name in reasons.keys() - set(names):
        problem = f"there is no series '{name}'"
        raise ParameterError("series-reason", problem, hint=f"There are: {', '.join(names)}.")
    sizes = sizes_by_series(expected, names)
    weights = by_series("weight", weight, names)
    return tuple(
        replace(
            with_options(each, sizes.get(each.called), weights.get(each.called)),
            justification=reasons.get(each.called),
        )
        for each in series
    )


def _print(folder: Path, draft: Draft) -> None:
    from graphveil.noise.exact_numbers import as_text

    title = "Predicted standard deviation of the noise in each published number"
    print_outlooks(title, draft.outlooks)
    if draft.sharing:
        print_shares(draft.sharing)
    left, _ = draft.promise.budget_left()
    print(draft.promise.bound_sentence)
    print_losses({each.series.name: each.times_beyond for each in draft.outlooks})
    print(f"ε = {draft.promise.budget.epsilon} in all; {as_text(left)} is left for later series.")
    print(f"The draft is in {draft.study_file}: read it, and edit it until it is right.")
    print(f"Nothing is spent yet. Next: graphveil plan {folder}, then graphveil add {folder} FILES")
