"""`promise` and `rehearse`: what can be tried before anything is promised or spent."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import (
    Directed,
    Every,
    Json,
    NotReciprocal,
    Plot,
    guarded,
)
from graphveil.cli.output import print_json, print_table, three_digits, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.graph.intake.appending import Intake
    from graphveil.graph.intake.records import Records
    from graphveil.lab.rehearsal import Rehearsal
    from graphveil.records import ReadFiles
    from graphveil.records.options import Undated
    from graphveil.steward.promising import (
        SeriesError,
        TriedFollowing,
        TriedForests,
        TriedPromise,
        TriedPromises,
        Wanted,
    )
    from graphveil.study import Promise


@taking_reading_options
def promise(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="A public or simulated network; any format."),
    ],
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="E", help="Total ε of all series, for all releases.")
    ],
    series: Annotated[
        list[str] | None,
        typer.Option(
            "--series",
            metavar="STATISTIC[:PARAMETER=VALUE,…][@E][=NAME]",
            help="A series of one number, as for `graphveil new`; may be repeated (edges).",
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            "--horizon", metavar="T", help="How many releases there will be (as the network has)."
        ),
    ] = None,
    every: Every = None,
    directed: Directed = False,
    oriented: NotReciprocal = False,
    *,
    reading: Reading,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Try promises on a public network: what each leaves out, and how much noise it needs.

    For every bound, shows the fewest hubs with which this network keeps it. Never use the
    records that you will publish: a promise that follows from them tells about people in them.

    Example: graphveil promise nodes.csv edges.csv --epsilon 1 --series high-degree:tau=3
    """
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.drawing.svg import require_drawable
    from graphveil.records import read_records
    from graphveil.steward.promising import WARNING, tried_promises

    if horizon is not None and horizon < 1:
        raise ParameterError("horizon", f"must be at least 1, not {horizon}")
    if plot is not None:
        require_drawable(plot, "plot")
    wanted = _wanted(series or ["edges"], epsilon)
    print(f"graphveil: {WARNING}", file=sys.stderr)
    with working("Reading and trying promises …"):
        load_kernels_without_blas()
        network = read_records(files, format=reading.format, options=reading.options)
        undated = reading.options.undated or "refuse"
        intake = _taken(network, every, directed or oriented, oriented, undated)
        tried = tried_promises(intake.sequence, wanted, horizon=horizon)
    if plot is not None:
        from graphveil.steward.comparison import promise_chart

        promise_chart(tried).write(plot, "plot")
    if as_json:
        print_json(tried.as_data())
    else:
        _print_tried(tried)


def _wanted(lines: list[str], epsilon: str) -> list[Wanted]:
    """The series, each with its share, as `graphveil new` would share the budget."""
    from graphveil.noise.exact_numbers import exact_epsilon
    from graphveil.statistics.statistic import statistic
    from graphveil.steward.drafting import with_shares
    from graphveil.steward.promising import Wanted
    from graphveil.steward.requests import OF_THE_SERIES, SeriesRequest, series_data

    entries = [series_data(line) for line in lines]
    for key in OF_THE_SERIES:
        if any(key in entry for entry in entries):
            raise ParameterError(key, "is not part of what is tried", hint="Leave it out.")
    requests = with_shares([SeriesRequest(**entry) for entry in entries], epsilon)
    return [
        Wanted(each.called, statistic(each.statistic, **each.parameters), exact_epsilon(share))
        for each in requests
        if (share := each.epsilon) is not None
    ]


def _taken(
    reading: ReadFiles, every: str | None, directed: bool, oriented: bool, undated: Undated
) -> Intake:
    from graphveil.steward.promising import taken

    return taken(
        reading.records,
        every,
        directed=directed or bool(reading.directed),
        oriented=oriented,
        undated=undated,
    )


def _print_tried(tried: TriedPromises) -> None:
    names = list(tried.best.series)
    header = ["bound", "hubs", "", "links left out"]
    for name in names:
        prefix = f"{name}: " if len(names) > 1 else ""
        header += [f"{prefix}Γ", "noise", "missed", "error", "of the number"]

    def row(each: TriedPromise) -> list[object]:
        mark = "◀" if each is tried.best else ""
        hubs = "x".join(map(str, each.bound.hubs))
        cells = [cell for name in names for cell in _cells(each.series[name])]
        return [each.bound.within.brief, hubs, mark, f"{each.dropped:.1%}", *cells]

    title = f"Promises that this network keeps, for {tried.horizon} releases"
    print_table(title, header, map(row, tried.tried), text_columns=3)
    best = tried.best.bound
    print(f"Smallest error: that everybody has {best.in_words} ({_options(tried.best)}).")
    print(
        "noise: predicted standard deviation; missed: what links that are left out change; error: "
        "both together; all as root mean squares over the releases."
    )
    if tried.best_forests is not None:
        _print_forests(tried, tried.best_forests)
    for name, each in tried.following.items():
        _print_following(name, each, tried.best.series[name])


def _print_forests(tried: TriedPromises, best: TriedForests) -> None:
    names = list(best.series)
    header = ["forest", ""]
    for name in names:
        header += [f"{name}: Δ", "noise", "missed", "error", "of the number"]

    def row(each: TriedForests) -> list[object]:
        cells = [cell for name in names for cell in _cells(each.series[name])]
        return [f"forest:{each.branches}", "◀" if each is best else "", *cells]

    title = f"Without a promise, counted by forests, for {tried.horizon} releases"
    print_table(title, header, map(row, tried.forests), text_columns=2)
    lines = (f"{name}:projection=forest:{best.branches}" for name in names)
    print(f"Smallest error: {', '.join(lines)}.")
    if any(each.missed > each.noise for each in best.series.values()):
        print(
            "In this network groups hang on people with many links, and forests count them as "
            "several: what is missed is larger than the noise. Weigh a promise, or more branches."
        )


def _print_following(name: str, tried: TriedFollowing, promised: SeriesError) -> None:
    """The guess for a threshold that follows, and whether it does better than the best promise."""
    noise, missed, error = map(
        three_digits, (tried.error.noise, tried.error.missed, tried.error.error)
    )
    print(
        f"Without a promise, {name} at a threshold that follows ({name}:projection="
        f"{tried.guess.brief}): noise {noise}, missed {missed}, error {error}, "
        f"{tried.error.relative:.1%} of the number. Wrong guesses cost accuracy, never privacy."
    )
    if tried.error.error > promised.error:
        print(
            "The best promise above has less error: in a dense network with few releases, or in "
            "one without hubs, a threshold that follows loses. Take the promise if you can defend "
            "it."
        )


def _cells(each: SeriesError) -> list[object]:
    sizes = map(three_digits, (each.noise, each.missed, each.error))
    return [each.l1, *sizes, f"{each.relative:.1%}"]


def _options(tried: TriedPromise) -> str:
    """The promise as `graphveil new` takes it."""
    names = ("--in-bound", "--out-bound") if tried.bound.directed else ("--bound",)
    limits = zip(names, tried.bound.within.limits, strict=True)
    options = " ".join(f"{name} {limit}" for name, limit in limits)
    hubs = "x".join(map(str, tried.bound.hubs))
    return f"{options} --hubs {hubs}" if any(tried.bound.hubs) else options


@taking_reading_options
def rehearse(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A draft, or a study.")],
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon", metavar="E", help="Try this total instead; repeat it to compare budgets."
        ),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option("--people", metavar="N", help="How many (as expected of series 'nodes')."),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option("--links", metavar="N", help="How many (as expected of series 'edges')."),
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option("--like", metavar="FILE", help="A public network instead; may be repeated."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option("--every", metavar="year|…|N", help="Length of a step of that network."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Where to put the page (here).")
    ] = None,
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Play a study to its end with made-up people, and write the page that readers would see.

    The promise, the mechanisms and the noise are the study's; the people are made up in the
    sizes that are expected, or come from a public network. The page is marked as a rehearsal,
    with the truth beside what would be published. Nothing is spent, and no record is read.

    Example: graphveil rehearse my-study --people 5000 --links 8000

    Example: graphveil rehearse my-study --epsilon 1/2 --epsilon 2

    Example: graphveil rehearse my-study --like network.csv --like people.csv
    """
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.lab.rehearsal import at_budget, rehearse
    from graphveil.steward.outlook import study_outlook

    folder = guarded(study)
    promise = study_outlook(folder).promise
    budgets = [_total(each) for each in epsilon or (promise.budget.epsilon,)]
    with working("Rehearsing …"):
        load_kernels_without_blas()
        network = _public(like, every, promise, reading) if like else _made(promise, people, links)
        played = [rehearse(at_budget(promise, each), network) for each in dict.fromkeys(budgets)]
        pages = _write(played, to or Path(), folder.resolve().name, public=bool(like))
    if as_json:
        numbers = [number.as_data() for each in played for number in each.numbers()]
        print_json({"pages": [str(each) for each in pages], "spent": False, "numbers": numbers})
        return
    _print_rehearsed(played)
    for page in pages:
        print(f"The page: {page}")
    print("Nothing is spent. Every rehearsal draws its noise afresh.")


def _total(text: str) -> Fraction:
    from graphveil.noise.exact_numbers import exact_epsilon

    return exact_epsilon(text)


def _made(promise: Promise, people: str | None, links: str | None) -> Records:
    """A network of the stated sizes, or of those that the study expects."""
    from graphveil.lab.rehearsal import expected_sizes, made_up
    from graphveil.steward.requests import expected_size

    given = {"people": people, "links": links}
    stated = {name: expected_size(text, name) for name, text in given.items() if text is not None}
    sizes = expected_sizes(promise) | stated
    for name in given.keys() - sizes.keys():
        problem = "about how many there will be is not stated"
        raise ParameterError(name, problem, hint=f"Give --{name} N.")
    return made_up(promise, **sizes)


def _public(files: list[str], every: str | None, promise: Promise, reading: Reading) -> Records:
    from graphveil.lab.rehearsal import like, require_public
    from graphveil.records import read_records

    require_public([Path(each) for each in files])
    records = read_records(files, format=reading.format, options=reading.options).records
    numbered = records.nodes.frame["time"].dtype.is_integer()
    rhythm = every or ("1" if numbered else "year")
    return like(records, int(rhythm) if rhythm.isdigit() else rhythm, promise)


def _write(played: list[Rehearsal], folder: Path, study: str, *, public: bool) -> list[Path]:
    """One page for each budget, called a rehearsal by its name."""
    from graphveil.noise.exact_numbers import as_text
    from graphveil.whole_files import write_bytes

    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for each in played:
        budget = f"-epsilon-{as_text(each.epsilon)}" if len(played) > 1 else ""
        path = folder / f"rehearsal-of-{study}{budget}.html".replace("/", "-")
        write_bytes(path, each.page(played, public=public))
        pages.append(path)
    return pages


def _print_rehearsed(played: list[Rehearsal]) -> None:
    from graphveil.lab.rehearsal import comparison

    shown = comparison(played)
    if not shown.rows:  # distributions alone: the page has them
        return
    header = [each.removeprefix("published, ") for each in shown.header]
    print_table(shown.title, header, shown.rows)
