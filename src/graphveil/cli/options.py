"""Options that several commands share: promises, statistics, backends, prices and sizes."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.output import Verb
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound, DegreeBound, InOutBound
    from graphveil.steward.outlook import Outlook
    from graphveil.steward.requests import SeriesRequest
    from graphveil.study.backends import BackendChoice


class IfBroken(StrEnum):
    """What to do where somebody breaks the promised bound."""

    CONTINUE = "continue"
    REFUSE = "refuse"


def guarded(folder: Path) -> Path:
    """The folder of a study; warns if others can read its secrets."""
    from graphveil.steward.custody import exposure

    warn(exposure(folder))
    return folder


def warn(found: object) -> None:
    """Warn on standard error of what a steward should change; prints nothing of None."""
    if found is not None:
        print(f"graphveil: WARNING: {found}", file=sys.stderr)


def given_in(context: typer.Context) -> set[str]:
    """The parameters that the command line gives."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}


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
    typer.Option(
        "--projection",
        metavar="D|IxO|NAME:N",
        help="Count without a promise: D links of everybody; forest:C by forests; follow:N as many "
        "as suit what was published, about N in the end; whole all (h-index).",
    ),
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
Delta = Annotated[
    str | None,
    typer.Option("--delta", metavar="δ", help="Probability of a loss above ε, such as 1e-6."),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the errors: .svg, .png or .html."),
]
Directed = Annotated[bool, typer.Option("--directed", help="Edges go from source to target.")]
NotReciprocal = Annotated[
    bool, typer.Option("--oriented", help="Directed, and reciprocal edges are refused.")
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="day|week|month|quarter|year|N",
        help="Length of a step (N: units, or days).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def most_bytes(limit: str | None) -> int | None:
    """The largest file to read, if the user says so."""
    from graphveil.records.options import size_of

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
    from graphveil.graph.promises import DegreeBound, InOutBound

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


def chosen_threshold(projection: str | None) -> Bound | None:
    """The threshold of a projection, if there is to be one."""
    from graphveil.graph.thresholds import projection_of, threshold_of

    return None if projection is None else threshold_of(projection_of(projection))


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
    from graphveil.graph.promises import HubBound

    if hubs is None:
        return within
    promised = HubBound(within, hub_numbers(hubs))  # which refuses zero hubs
    promised.require_sense()
    return replace(promised, checked=if_broken is IfBroken.REFUSE)


def hub_numbers(text: str) -> tuple[int, ...]:
    """How many hubs: H, or IxO for in- and out-hubs."""
    match = re.fullmatch(r"([0-9]+)(?:x([0-9]+))?", text)
    if match is None:
        problem = f"must be a number, or IxO for in- and out-hubs, not '{text}'"
        raise ParameterError("hubs", problem)
    return tuple(int(number) for number in match.groups() if number is not None)


# Where counting runs: options of every command that counts. They concern this machine alone.


HERE = "local"
SPARK = "spark"
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar=f"<{HERE}|{SPARK}>",
        help="Where counting runs; spark for what fits no machine.",
    ),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Of Spark: local[4], spark://…, k8s://…, yarn."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark. May be repeated."),
]


def chosen(engine: str, master: str | None, conf: list[str] | None) -> BackendChoice:
    """What the options say about where counting runs."""
    from graphveil.study.backends import BackendChoice, backend

    settings = settings_of(engine, master, conf)
    if engine != HERE:
        backend(engine)
    return BackendChoice(engine, master, settings)


def settings_of(engine: str, master: str | None, conf: list[str] | None) -> dict[str, str]:
    """The settings of another engine; refuses them for the local one, which has none."""
    if engine == HERE and (master or conf):
        raise ParameterError("--master, --conf", "are for Spark", hint="Add --engine spark.")
    settings = {}
    for each in conf or []:
        key, separator, value = each.partition("=")
        if not separator or not key.strip():
            raise ParameterError("--conf", "must be KEY=VALUE, such as spark.executor.memory=4g")
        settings[key.strip()] = value.strip()
    return settings


# The options of statistics: every parameter that one of them has, as it describes itself.


_GIVEN = "graphveil.parameters"


def taking_parameters(before: str) -> type[Verb]:
    """A kind of command that takes a statistic; its options stand before the one named."""
    return type("StatisticCommand", (_StatisticCommand,), {"before": before})


def given_parameters(context: typer.Context) -> dict[str, str]:
    """The parameters that the user gave, as they were typed."""
    given: dict[str, str] = context.meta[_GIVEN]
    return given


class _StatisticCommand(Verb):
    """Statistics are looked up only when such a command is called, so that help stays instant."""

    before: str

    @cached_property
    def _options(self) -> list[Any]:
        taken = {flag for each in self.params for flag in each.opts}
        return _made_options(taken)

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, and those of statistics among them."""
        own = super().get_params(ctx)
        place = [each.name for each in own].index(self.before)
        return [*own[:place], *self._options, *own[place:]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Separate the statistic's options from the command's own."""
        rest = super().parse_args(ctx, args)
        given = {each.name: ctx.params.pop(each.name) for each in self._options}
        ctx.meta[_GIVEN] = {name: text for name, text in given.items() if text is not None}
        return rest


def _made_options(taken: set[str]) -> list[Any]:
    """Options as typer makes them of a function's signature; flags of the command are its own."""
    from graphveil.statistics.statistic import known_parameters

    def asked() -> None:
        """Stand for the signature; never called."""

    asked.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(
                each.name,
                Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    str | None,
                    typer.Option(
                        *(flag for flag in each.flags if flag not in taken),
                        metavar=each.metavar,
                        help=each.help,
                    ),
                ],
            )
            for each in known_parameters().values()
        ]
    )
    holder = typer.Typer(add_completion=False)
    holder.command()(asked)
    return list(typer.main.get_command(holder).params)


# Prices on the command line: what a steward is ready to pay, and the question before.


def given_prices(given: Sequence[str] | None) -> dict[str, str]:
    """The prices that were typed as NAME=E, by the name of the series."""
    by_name: dict[str, str] = {}
    for text in given or ():
        name, sign, price = text.partition("=")
        if not sign or not name or not price:
            raise ParameterError("price", "is written NAME=E, such as clusters=1/4")
        if name in by_name:
            raise ParameterError("price", f"of series '{name}' is given twice")
        by_name[name] = price
    return by_name


def confirm(question: str) -> None:
    """Ask before something that cannot be undone; refuse where nobody can be asked."""
    if not sys.stdin.isatty():
        raise ParameterError("yes", "is needed where nobody can be asked", hint="Give --yes.")
    with redirect_stdout(sys.stderr):  # standard output is for the results of the command
        typer.confirm(question, abort=True)


# Expectations of series, on the command line: sizes, weights, and consent to those too noisy.


Expected = Annotated[
    list[str] | None,
    typer.Option(
        "--expected",
        metavar="SERIES=N",
        help="How large a series will be at the end, by public knowledge; may be repeated.",
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="SERIES=W",
        help="How much a series without @E matters against the others; 1 unless said.",
    ),
]
Drowned = Annotated[bool, typer.Option("--yes", help="Take series that are too noisy, too.")]


def by_series(option: str, given: Sequence[str] | None, known: Sequence[str]) -> dict[str, str]:
    """What was typed as SERIES=VALUE, by series; refuses what names none, or one twice."""
    values: dict[str, str] = {}
    for text in given or ():
        name, _, value = text.replace(" ", "").partition("=")
        if name not in known or not value:
            problem = f"'{text[:80]}' is not of the form SERIES=N"
            raise ParameterError(option, problem, hint=f"Series: {', '.join(known)[:120]}.")
        if name in values:
            raise ParameterError(option, f"of series '{name}' is given twice")
        values[name] = value
    return values


def sizes_by_series(given: Sequence[str] | None, known: Sequence[str]) -> dict[str, int]:
    """The expected sizes that were typed as SERIES=N."""
    from graphveil.steward.requests import expected_size

    return {name: expected_size(text) for name, text in by_series("expected", given, known).items()}


def with_options(series: SeriesRequest, size: int | None, weight: str | None) -> SeriesRequest:
    """The series with options given apart from its line; refuses one that is given twice."""
    for option, here in (("expected", size), ("weight", weight)):
        if here is not None and getattr(series, option) is not None:
            raise ParameterError(option, f"of series '{series.called}' is given twice")
    return replace(
        series,
        expected=series.expected if size is None else size,
        weight=series.weight if weight is None else weight,
    )


def accept(outlooks: Sequence[Outlook], *, yes: bool) -> None:
    """Ask whether series that are too noisy shall begin anyway; refuse if nobody can answer."""
    from graphveil.steward.drafting import require_useful, too_noisy

    messages = too_noisy(outlooks)
    if yes or not messages:
        return
    if not sys.stdin.isatty():
        require_useful(outlooks)
    for each in messages:
        typer.echo(f"Series {each}.", err=True)
    typer.confirm("A series is too noisy to tell. Go on all the same?", abort=True, err=True)
