"""`graphveil plan`: the error of every mechanism, before anything is spent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    Breaking,
    Degree,
    Delta,
    Hubs,
    IfBroken,
    Inward,
    Json,
    Minimise,
    NoPromise,
    Oriented,
    Outward,
    Plot,
    Projection,
    chosen_bound,
    chosen_threshold,
    given_in,
    given_parameters,
    guarded,
    promised_nothing,
    sizes_by_series,
)
from graphveil.cli.output import (
    UNSPENT,
    print_json,
    print_losses,
    print_outlooks,
    print_rival,
    print_table,
    three_digits,
    working,
)
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.drawing.svg import Drawing
    from graphveil.graph.promises import Bound
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.series.planner import Prospect
    from graphveil.statistics.statistic import Statistic
    from graphveil.steward.comparison import Comparison
    from graphveil.steward.outlook import StudyOutlook


UNKNOWN = "unknown"
_SHOWN = ("mean", "last", "worst", "differences")  # further ones with --all


def plan(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|NAME", help="A study, or a name from `graphveil statistics`."
        ),
    ],
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="Privacy loss ε of the whole series."),
    ] = None,
    degree: Degree = None,
    inward: Inward = None,
    outward: Outward = None,
    oriented: Oriented = False,
    hubs: Hubs = None,
    if_broken: Breaking = None,
    no_bound: NoPromise = False,
    projection: Projection = None,
    delta: Delta = None,
    horizon: Annotated[
        str, typer.Option("--horizon", metavar="T|unknown", help="How many releases there will be.")
    ] = UNKNOWN,
    mechanism: Annotated[
        str, typer.Option("--mechanism", metavar="NAME", help="Use this one, whatever its error.")
    ] = "auto",
    minimise: Minimise = None,
    expected: Annotated[
        list[str] | None,
        typer.Option(
            "--expected",
            metavar="N|SERIES=N",
            help="Expected size of the number, for a warning; for a study, once per series.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Every mechanism: what it does, or why it is not possible."),
    ] = False,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Show the error that each mechanism will have, and which one is best.

    For a study, shows the error that each series will have; the study file says the rest, so
    no other option is needed. Errors are standard deviations of the noise in each published
    number: a column for each way to weigh releases against each other, which --minimise names.
    They follow from public parameters only: no data is read, and nothing is spent.

    Example: graphveil plan my-study --expected edges=500

    Example: graphveil plan edges --bound 15 --epsilon 1 --horizon 20

    Example: graphveil plan edges --projection 10 --epsilon 1 --horizon 20
    """
    given = given_parameters(context)
    output = _Output(plot, as_json, everything)
    output.require_possible()
    if is_study(name):
        _require_only_of_study(context, list(given))
        _plan_study(guarded(Path(name)), expected, output)
        return
    promised = _Promised(degree, inward, outward, oriented, hubs, if_broken, no_bound)
    promised.require_sense()
    if epsilon is None:
        raise ParameterError("epsilon", "is needed to plan a statistic", hint="Give --epsilon E.")
    terms = {"delta": delta, "horizon": _steps(horizon), "minimise": minimise}
    terms |= {"epsilon": epsilon, "mechanism": mechanism}
    _plan_statistic(name, given, promised, projection, expected, output, **terms)


@dataclass(frozen=True)
class _Output:
    """Where the result goes."""

    plot: Path | None
    as_json: bool
    everything: bool

    def require_possible(self) -> None:
        """Refuse a picture that could not be written in the end, before anything is computed."""
        from graphveil.drawing.svg import require_drawable

        if self.plot is not None:
            require_drawable(self.plot, "plot")

    def draw(self, made: Callable[[], Drawing]) -> None:
        """Draw into the file, if one is given."""
        if self.plot is not None:
            with working("Drawing …"):
                made().write(self.plot, "plot")


def _plan_statistic(
    name: str,
    given: dict[str, str],
    promised: _Promised,
    projection: str | None,
    expected: list[str] | None,
    output: _Output,
    **terms: Any,
) -> None:
    """Compare the mechanisms for one statistic."""
    from graphveil.statistics.statistic import statistic
    from graphveil.steward.comparison import compared, plan_chart

    counted, size = statistic(name, **given), _size(expected or [])
    threshold = chosen_threshold(projection)
    bound = promised.bound(counted, threshold)
    with working("Planning …"):
        found = compared(counted, bound, projection=threshold, expected=size, **terms)
    output.draw(lambda: plan_chart(found.prospects, found.chosen))
    if output.as_json:
        print_json(found.as_data())
    else:
        _print(found, everything=output.everything)


@dataclass(frozen=True)
class _Promised:
    """What the options promise about links."""

    degree: int | None
    inward: int | None
    outward: int | None
    oriented: bool
    hubs: str | None
    if_broken: IfBroken | None
    no_bound: bool

    def require_sense(self) -> None:
        """Refuse a promise beside the word that there is none."""
        if self.no_bound:
            numbers = self.degree, self.inward, self.outward, self.hubs
            promised_nothing(*numbers, self.oriented or None, self.if_broken)

    def bound(self, statistic: Statistic, threshold: Bound | None) -> Bound:
        """The bound for a statistic; one that projects may do without."""
        promised = any((self.degree, self.inward, self.outward, self.hubs))
        if self.no_bound or (threshold is not None and not promised):
            return _without_bound(statistic, threshold)
        return chosen_bound(
            self.degree,
            self.inward,
            self.outward,
            oriented=self.oriented,
            hubs=self.hubs,
            if_broken=self.if_broken,
        )


def _without_bound(statistic: Statistic, threshold: Bound | None) -> Bound:
    """That nothing is promised, if the statistic can do without."""
    from graphveil.graph.promises import NoBound
    from graphveil.statistics.change import require_no_bound

    if threshold is None:
        require_no_bound(statistic, directed=not statistic.domain.admits(directed=False))
        return NoBound("undirected" if statistic.domain.admits(directed=False) else "directed")
    return NoBound("directed" if threshold.directed else "undirected")


def is_study(name: str) -> bool:
    """Whether a name means a study; of a name that is also a statistic, if there is one."""
    from graphveil.statistics.statistic import registered

    path = Path(name)
    return (path / "public" / "study.toml").is_file() or (
        name not in registered() and (path.is_dir() or len(path.parts) > 1)
    )


_OF_STUDY = {"name", "expected", "everything", "as_json"}


def _require_only_of_study(context: typer.Context, others: list[str]) -> None:
    """Refuse whatever the study file says already."""
    if others or given_in(context) - _OF_STUDY:
        raise ParameterError(
            "plan",
            "of a study takes only --expected and --json",
            hint="The study file says the rest; to try other budgets, see `graphveil rehearse`.",
        )


def _size(expected: list[str]) -> int | None:
    """The one size that is expected of a statistic."""
    if not expected:
        return None
    if len(expected) > 1 or not (expected[0].isascii() and expected[0].isdigit()):
        raise ParameterError("expected", "must be one whole number for a statistic")
    return int(expected[0])


def _steps(horizon: str) -> int | None:
    """The number of releases; None if it is unknown."""
    if horizon == UNKNOWN:
        return None
    if not horizon.isascii() or not horizon.isdigit() or int(horizon) < 1:
        raise ParameterError("horizon", f"must be at least 1, or '{UNKNOWN}', not '{horizon}'")
    return int(horizon)


def _plan_study(folder: Path, expected: list[str] | None, output: _Output) -> None:
    """Print the predicted error of each series, with warnings for sizes that are expected."""
    from graphveil.steward.outlook import study_outlook

    with working("Planning …"):
        outlook = study_outlook(folder)
        names = [each.name for each in outlook.promise.series]
        outlook = outlook.expecting(sizes_by_series(expected, names))
    if output.as_json:
        print_json(outlook.as_data())
    else:
        _print_study(outlook)


def _print_study(outlook: StudyOutlook) -> None:
    from graphveil.noise.exact_numbers import as_text

    study = outlook.promise
    print_outlooks(f"{study.title}: standard deviation of the noise, predicted", outlook.series)
    left, _ = study.budget_left()
    print(f"Calendar: {study.calendar.describe()}. {study.bound_sentence}")
    print(f"ε = {study.budget.epsilon} in all; {as_text(left)} is left for later series.")
    print_losses({each.series.name: each.times_beyond for each in outlook.series})
    print(UNSPENT)
    for name, warning in outlook.warnings.items():
        print(f"Warning, {name}: {warning}", file=sys.stderr)


def _print(comparison: Comparison, *, everything: bool) -> None:
    chosen = comparison.chosen
    possible = [each for each in comparison.prospects if each.plan is not None]
    shown = [
        place
        for place, heading in enumerate(comparison.headings)
        if everything or heading in (*_SHOWN, str(chosen.request.minimise))
    ]

    def row(each: Prospect) -> list[object]:
        assert each.plan is not None, "others are not in the table"
        mark = "◀" if each.name == chosen.mechanism.name else ""
        errors = list(comparison.errors(each.plan).values())
        return [each.name, mark, *(three_digits(errors[place]) for place in shown)]

    steps = len(chosen.predicted)
    length = f"the first {steps}" if chosen.request.horizon is None else str(steps)
    print_table(
        f"{chosen.subject}: standard deviation of the noise over {length} releases",
        ("mechanism", "", *(comparison.headings[place] for place in shown)),
        map(row, possible),
        text_columns=2,
    )
    _print_others(comparison.prospects, everything=everything)
    print(f"Choice: {chosen.mechanism.name}, {_guarantee(chosen)}.")
    print(f"Minimised: {chosen.request.minimise}, {chosen.request.minimise.summary}.")
    print_rival("It", chosen)
    print_losses({"this series": comparison.times_beyond})
    if comparison.judgement:
        print(f"Size: {comparison.judgement}.")
    if comparison.warning:
        print(f"Warning: {comparison.warning}", file=sys.stderr)


def _print_others(prospects: Sequence[Prospect], *, everything: bool) -> None:
    """What the mechanisms do, and why others are not possible; or that --all says so."""
    others = [each for each in prospects if each.plan is None]
    if not everything:
        if others:
            print(f"{len(others)} others are not possible here: --all says why.")
        return
    for each in prospects:
        if each.plan is not None:
            print(f"{each.name}: {each.summary}.")
    for reason in dict.fromkeys(each.reason for each in others):
        names = ", ".join(each.name for each in others if each.reason == reason)
        print(f"Not possible: {names} ({reason}).")
    print()


def _guarantee(chosen: Plan) -> str:
    width = chosen.request.width
    together = f", all {width} numbers of every release together" if width > 1 else ""
    return f"{chosen.budget} for the whole series{together}"
