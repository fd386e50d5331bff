"""`graphveil rehearse`: the whole page of a draft, with made-up people; nothing is spent."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json, guarded
from graphveil.cli.output import print_json, print_table, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.graph.intake.records import Records
    from graphveil.lab.rehearsal import Rehearsal
    from graphveil.study import Promise


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
    _print(played)
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


def _print(played: list[Rehearsal]) -> None:
    from graphveil.lab.rehearsal import comparison

    shown = comparison(played)
    if not shown.rows:  # distributions alone: the page has them
        return
    header = [each.removeprefix("published, ") for each in shown.header]
    print_table(shown.title, header, shown.rows)
