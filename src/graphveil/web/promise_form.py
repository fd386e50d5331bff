"""The form of a promise: its fields become a request, with the predicted noise beside it.

A share is a part of ε in percent, so that moving ε moves every series with it. Shares that are
blank are equal parts of what the others leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from markupsafe import Markup

from graphveil.errors import BudgetError, ParameterError
from graphveil.graph.groups import Groups
from graphveil.graph.thresholds import projection_of
from graphveil.noise.exact_numbers import as_text, exact, exact_epsilon
from graphveil.report.wording import COUNTED, counted_in_general, rounded_up
from graphveil.statistics.statistic import DIVIDED, WINDOW, Parameter, registered
from graphveil.steward.drafting import calendar, drafted
from graphveil.steward.outlook import forecast
from graphveil.steward.requests import (
    SeriesRequest,
    StudyRequest,
    entry_value,
)
from graphveil.web.forms import Form
from graphveil.web.wording import figure

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.steward.outlook import Forecast, Outlook


@dataclass(frozen=True)
class Template:
    """A form that is filled in as usual for one kind of study; nothing has to be promised.

    Attributes:
        title: what kind.
        about: whom it suits, in a sentence.
        every: how long a step is.
        series: the statistics, with their numbers.
        more: other fields.
    """

    title: str
    about: str
    every: str
    series: tuple[tuple[str, Mapping[str, str]], ...]
    more: Mapping[str, str] = field(default_factory=dict)

    def form(self) -> Form:
        """The form, in which title, dates and budget are still to be said."""
        fields = {"kind": "none", "every": self.every, "confidence": "0.95", **self.more}
        for number, (statistic, numbers) in enumerate(self.series):
            fields[f"statistic-{number}"] = statistic
            fields |= {f"{name}-{number}": value for name, value in numbers.items()}
        return Form([*(("row", str(n)) for n in range(len(self.series))), *fields.items()])


_NONE: Mapping[str, str] = {}
TEMPLATES = {
    "hiv": Template(
        "HIV clusters by year",
        "Diagnosed people and genetic links, as HIV-TRACE has them.",
        "year",
        (
            ("nodes", _NONE),
            ("edges", _NONE),
            ("clusters", {"k": "2"}),
            ("high-degree", {"tau": "3"}),
        ),
        {"person_separator": "|"},
    ),
    "outbreak": Template(
        "An outbreak by week",
        "Cases and who infected whom.",
        "week",
        (("nodes", _NONE), ("edges", _NONE), ("clusters", {"k": "2"})),
    ),
    "contacts": Template(
        "Contact tracing by month",
        "People and their contacts; who has many of them.",
        "month",
        (("nodes", _NONE), ("edges", _NONE), ("high-degree", {"tau": "5"})),
    ),
    "citations": Template(
        "A citation network by year",
        "Links have a direction.",
        "year",
        (("nodes", _NONE), ("edges", _NONE), ("high-in-degree", {"tau": "10"})),
        {"directed": "yes"},
    ),
}
EMPTY = Template("", "", "year", (("nodes", _NONE), ("edges", _NONE))).form()
LATER = "…"  # in place of texts that are still missing: noise does not depend on them
LEFT_OUT = (
    "Links that are not counted come on top of the noise. How many is unknown, and must not be "
    "measured on your own records."
)
MOST_RELEASES = 5000
WHOLE = 100  # percent
DIGITS = 10  # parts of a percent that a best split is rounded to


@dataclass(frozen=True)
class SeriesRow:
    """One series of the form.

    Attributes:
        number: distinguishes its fields from those of others.
        statistic: what is counted.
        words: the same without mathematics.
        parameters: those that can be given.
    """

    number: str
    statistic: str
    words: str
    parameters: tuple[Parameter, ...]

    def field(self, name: str) -> str:
        """What one of its fields is called."""
        return f"{name}-{self.number}"


def rows_of(form: Form) -> list[SeriesRow]:
    """The series of a form, without those of unknown statistics."""
    known = registered()
    numbered = [
        (number, form[f"statistic-{number}"]) for number in dict.fromkeys(form.every("row"))
    ]
    return [
        SeriesRow(number, name, _words(name), _parameters(name))
        for number, name in numbered
        if name in known
    ]


def _parameters(statistic: str) -> tuple[Parameter, ...]:
    return tuple(each for each in registered()[statistic].parameters() if each.name != WINDOW)


def _words(statistic: str) -> str:
    return counted_in_general(statistic, registered()[statistic].summary)


@dataclass(frozen=True)
class Offered:
    """A statistic that can be chosen.

    Attributes:
        name: what it is called.
        words: what it counts, without mathematics.
        kind: of links that it needs: "undirected", "directed", or "both" if any do.
    """

    name: str
    words: str
    kind: str


def offered() -> list[Offered]:
    """Every statistic, the usual ones first."""
    known = registered()
    usual = [*COUNTED, *sorted(known.keys() - COUNTED.keys())]
    return [
        Offered(name, _words(name), known[name].domain.name.lower())
        for name in usual
        if name in known
    ]


def with_series(form: Form) -> Form:
    """The form with one more series, of the statistic that was chosen, and its usual numbers."""
    number, wanted = next_number(form), form["statistic"]
    if wanted not in registered():
        return form
    usual = registered()[wanted].defaults().items()
    values = {f"{name}-{number}": str(value) for name, value in usual}
    return form.also({"row": number, f"statistic-{number}": wanted, **values})


def next_number(form: Form) -> str:
    """A number that no series of the form has."""
    taken = [int(each) for each in form.every("row") if each.isdigit()]
    return str(max(taken, default=-1) + 1)


def request_of(form: Form, *, draft: bool = False) -> StudyRequest:
    """The study that a form describes.

    Args:
        form: as it was sent.
        draft: whether words that the noise does not depend on may be missing.
    """
    texts: dict[str, Any] = {
        name: form[name] or (LATER if draft else _missing(name))
        for name in ("title", "population", "publisher", "epsilon_reason")
    }
    epsilon = form["epsilon"] or _missing("epsilon")
    return StudyRequest(
        **texts,
        calendar=calendar_of(form),
        epsilon=epsilon,
        series=_series(form, epsilon),
        **_bound(form, draft=draft),
        delta=form.said("delta"),
        minimise=form.said("minimise"),
        confidence=form["confidence"] or "0.95",
        person_separator=form["person_separator"],
        fold_case=form.checked("fold_case"),
        undated="first" if form["undated"] == "first" else "refuse",
        groups=Groups.of(line for line in form["groups"].splitlines() if line.strip()),
        ratios=tuple(line for line in form["ratios"].splitlines() if line.strip()),
    )


def _missing(name: str) -> str:
    labels = {
        "title": "Title", "population": "Population", "publisher": "Publisher",
        "epsilon": "Total ε", "epsilon_reason": "Why this much", "first": "First step",
        "degree": "Links of a person, at most", "bound_reason": "Why the public may believe it",
        "inward": "Links to a person, at most", "outward": "Links from a person, at most",
    }  # fmt: skip
    raise ParameterError(labels[name], "enter it first")


def calendar_of(form: Form) -> Calendar:
    """The steps, as many as there are to be releases."""
    found = calendar(form["every"] or "year", form["first"] or _missing("first"))
    if not form["releases"]:
        return found
    return found.ending_with(_whole("Number of releases", form["releases"], MOST_RELEASES) - 1)


def _whole(label: str, text: str, most: int = 10**6, least: int = 1) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
        raise ParameterError(label, f"must be a whole number from {least} to {most:,}")
    return int(text)


def _bound(form: Form, *, draft: bool) -> dict[str, Any]:
    """What is promised about links: nothing, one bound, or two in a directed network."""
    kind = form["kind"]
    if kind == "none":
        return {"no_bound": True, "directed": form.checked("directed")}
    names = ("inward", "outward") if kind == "directed" else ("degree",)
    numbers = {name: _whole(_label(name), form[name] or _missing(name)) for name in names}
    hubs = [form[name] for name in ("hubs", "out_hubs")[: len(names)]]
    reason = form["bound_reason"] or (LATER if draft else _missing("bound_reason"))
    broken = "refuse" if form["if_broken"] == "refuse" else "continue"
    return {
        **numbers,
        "directed": kind == "directed",
        "oriented": kind == "directed" and form.checked("oriented"),
        "hubs": tuple(_whole("Hubs", each, least=0) for each in hubs) if all(hubs) else None,
        "bound_reason": reason,
        "if_broken": cast(Literal["continue", "refuse"], broken),
    }


def _label(name: str) -> str:
    return {"degree": "Links of a person", "inward": "Links to a person"}.get(
        name, "Links from a person"
    )


def _series(form: Form, epsilon: str) -> tuple[SeriesRequest, ...]:
    rows = rows_of(form)
    shares = _shares(form, rows)
    total = exact_epsilon(epsilon)
    given = [as_text(total * share / WHOLE) for share in shares]
    series = tuple(map(partial(_series_request, form), rows, given))
    if form["delta"] or any(each.expected is None for each in series):
        return series
    # As the commands do it: series that name no share have the best one for what is expected.
    # With a δ they might share a pool, for which the page has no field.
    return tuple(
        each if form[row.field("share")] else replace(each, epsilon=None)
        for row, each in zip(rows, series, strict=True)
    )


def _shares(form: Form, rows: Sequence[SeriesRow]) -> list[Fraction]:
    """The part of ε of each series, in percent."""
    given = [form[row.field("share")] for row in rows]
    shares = [exact("Share of ε", text.rstrip("% ")) for text in given if text]
    left = WHOLE - sum(shares, Fraction())
    if left < 0 or (left == 0 and len(shares) < len(given)) or any(each <= 0 for each in shares):
        raise BudgetError("the shares of ε have to be above 0, and 100% together at most.")
    equal = left / max(len(given) - len(shares), 1)
    following = iter(shares)
    return [next(following) if text else equal for text in given]


def _series_request(form: Form, row: SeriesRow, epsilon: str | None) -> SeriesRequest:
    given = {each.name: form[row.field(each.name)] for each in row.parameters}
    for name in (WINDOW, *DIVIDED):
        given[name] = form[row.field(name)]
    parameters = {name: entry_value(name, text) for name, text in given.items() if text}
    projection, expected = form[row.field("projection")], form[row.field("expected")]
    return SeriesRequest(
        row.statistic,
        parameters,
        name=form.said(row.field("name")),
        epsilon=epsilon,
        projection=projection_of(projection) if projection else None,
        expected=_size(expected) if expected else None,
        justification=form.said(row.field("reason")),
    )


def _size(text: str) -> int:
    return _whole("Expected size", text.replace(",", "").replace(" ", ""), 10**9)


def best_shares(form: Form) -> dict[str, str]:
    """The best split for the sizes expected, in percent of ε, by the field that takes it."""
    rows, request = rows_of(form), request_of(form, draft=True)
    if len(rows) < 2 or any(each.expected is None for each in request.series):
        problem = "needs at least two series, and the size that is expected of each"
        raise ParameterError("Best split", problem)
    asking = tuple(replace(each, epsilon=None) for each in request.series)
    # With a δ, series might share a pool, for which the page has no field: shares are of ε alone.
    series = drafted(replace(request, series=asking, delta=None)).series
    total = exact_epsilon(request.epsilon)
    parts = _rounded([each.price[0] / total for each in series])
    return {row.field("share"): text for row, text in zip(rows, parts, strict=True)}


def _rounded(parts: Sequence[Fraction]) -> list[str]:
    """In tenths of a percent that add up to all; the largest takes what rounding leaves."""
    tenths = [max(1, round(each * WHOLE * DIGITS)) for each in parts]
    tenths[tenths.index(max(tenths))] += WHOLE * DIGITS - sum(tenths)
    return [as_text(Fraction(each, DIGITS)) for each in tenths]


# Predictions: what a series will be like, as its page and the sliders show it.


@dataclass(frozen=True)
class Prediction:
    """A series in the words and pictures of the page.

    Attributes:
        series: its name.
        counted: what is counted.
        price: its share of the budget.
        mechanism: which adds the noise.
        first: the predicted error of the first release.
        last: that of the last one.
        expected: the size that is expected there; nothing if none was given.
        share: the error as a part of it.
        word: what that leaves of the number.
        note: from when on the number can be read.
        besides: what comes on top of the noise, if anything does.
        beyond: what it costs to be linked to more hubs than promised, if anybody can be.
        drawing: the curve with its band, wide and narrow.
    """

    series: str
    counted: str
    price: str
    mechanism: str
    first: str
    last: str
    expected: str
    share: str
    word: str
    note: str
    besides: str
    beyond: str
    drawing: tuple[Markup, ...]


def prediction(outlook: Outlook) -> Prediction:
    """What the planner predicts for a series; no number is computed here."""
    from graphveil.mechanisms.planning.usefulness import percent

    plan, judgement, drawn = outlook.plan, outlook.judgement, forecast(outlook)
    return Prediction(
        series=outlook.series.name,
        counted=outlook.series.counted().summary,
        price=outlook.series.price_in_words,
        mechanism=plan.mechanism.name,
        first=figure(plan.predicted[0]),
        last=figure(plan.last_std),
        expected="" if judgement is None else f"{judgement.expected:,}",
        share="" if judgement is None else percent(judgement.share),
        word="" if judgement is None else str(judgement.word),
        note="" if drawn is None else f"{_note(outlook, drawn)} {outlook.too_noisy_cells}".strip(),
        besides=LEFT_OUT if outlook.leaves_out else "",
        beyond=_beyond(outlook),
        drawing=() if drawn is None else _drawings(outlook, drawn),
    )


def _note(outlook: Outlook, drawn: Forecast) -> str:
    clear = drawn.first_clear
    if clear is None:
        return "Every release is too noisy to tell."
    if clear == 0:
        return "No release is too noisy, if the number grows evenly."
    label = outlook.promise.calendar.label(outlook.first_step + clear)
    return f"Releases before {label} are too noisy, if the number grows evenly."


def _beyond(outlook: Outlook) -> str:
    """The multiples of ε that the commands show as a table."""
    losses = [f"{n:,} more: {rounded_up(each)}" for n, each in outlook.times_beyond.items()]
    if not losses:
        return ""
    return (
        "Times ε for a person who is linked to more hubs (people with more links than the bound) "
        f"than promised, {'; '.join(losses)}."
    )


def _drawings(outlook: Outlook, drawn: Forecast) -> tuple[Markup, ...]:
    from graphveil.report.charts import over_expected
    from graphveil.report.frame import Size

    label = f"{outlook.series.name}: expected sizes and predicted noise. {_note(outlook, drawn)}"
    # Drawn from numbers and our own words, every text escaped: safe as it is.
    return tuple(
        Markup(
            over_expected(
                drawn.curve,
                drawn.noise,
                drawn.too_noisy,
                calendar=outlook.promise.calendar,
                first_step=outlook.first_step,
                size=size,
                label=label,
            )
        )
        for size in (Size(520, 150), Size(340, 150, edge=6))
    )
