"""The page: the whole publication for readers, in one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.graph.hub_bound import HubBound
from graphveil.noise.exact_numbers import as_text
from graphveil.planning.usefulness import percent
from graphveil.report import statement, wording
from graphveil.report.card import NO_PROMISE, NO_REASON
from graphveil.report.changes import new_at
from graphveil.report.chart_files import chart_file
from graphveil.report.news import TOO_NOISY, is_drowned, news, reading
from graphveil.report.releases import counted

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.planning.usefulness import Judgement
    from graphveil.study.public.facts import ReleaseMade, SensitivityFact
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart

SHORT = 12  # tables of up to this many steps are open from the start
TEMPLATE = "page.html.jinja"
CHECK = """\
import hashlib, json

previous = "0" * 64
for line in open("ledger.jsonl", encoding="utf-8"):
    row = json.loads(line)
    stated = row.pop("hash")
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert row["previous"] == previous, row["number"]
    assert hashlib.sha256(text.encode()).hexdigest() == stated, row["number"]
    previous = stated
print(previous)
"""


@dataclass(frozen=True)
class PageTable:
    """Cells as readers see them; the first column names the rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def page(part: PublicPart, drawing: Callable[[str], bytes]) -> bytes:
    """The page as a file.

    Args:
        part: the study.
        drawing: gives the SVG of a series that has releases, by its name.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("graphveil.report"),
        autoescape=True,  # titles and reasons are texts of other people
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    series = [_section(each, part.promise.calendar, drawing) for each in part.series]
    return environment.get_template(TEMPLATE).render(_context(part), series=series).encode()


def _context(part: PublicPart) -> dict[str, Any]:
    epsilon, delta = part.total
    guess = statement.certainties(epsilon)[0]
    return {
        "part": part,
        "promise": part.promise,
        "statement": statement,
        "words": wording,
        "span": wording.span(part),
        "budget": wording.budget(epsilon, delta),
        "even_guess": statement.chance(guess.at_most),
        "certainties": statement.certainties(epsilon),
        "calendar": part.promise.calendar,
        "next_step": _next_step(part),
        "level": wording.percent(part.promise.confidence),
        "shares": _shares(part),
        "exposures": _exposures(part),
        "why_no_bound": NO_PROMISE,
        "spent_share": f"{float(part.spent[0] / epsilon):.1%}",
        "no_reason": NO_REASON,
        "check": CHECK,
    }


def _next_step(part: PublicPart) -> str | None:
    calendar, step = part.promise.calendar, len(part.steps)
    last = calendar.last_step
    return calendar.label(step) if last is None or step <= last else None


def _shares(part: PublicPart) -> PageTable:
    """What each series costs, and what is left."""
    with_delta = bool(part.total[1])

    def row(name: str, epsilon: Fraction, delta: Fraction | None) -> tuple[str, ...]:
        shares = as_text(epsilon), as_text(delta or Fraction())
        return (name, *shares[: 2 if with_delta else 1])

    rows = [row(each.series, each.epsilon, each.delta) for each in part.series]
    rows += [row("spent", *part.spent), row("left", *part.left), row("total", *part.total)]
    return PageTable(("", "ε", "δ")[: 3 if with_delta else 2], tuple(rows))


def _exposures(part: PublicPart) -> PageTable | None:
    """What whoever breaks the promise loses; None if that is nothing."""
    found = statement.exposures(part)
    if not found:
        return None
    losses = (part.spent[0], *(each.epsilon for each in found))
    told = (f"at most {statement.rounded_up(loss)}" for loss in losses)
    bound = part.promise.degree_bound
    assert isinstance(bound, HubBound), "nobody else is told of exposures"
    header = f"linked to people {bound.hub_in_words}", "ε of the open series"
    return PageTable(header, tuple(zip(statement.exposed_persons(part), told, strict=True)))


def _section(
    series: PublishedSeries, calendar: Calendar, drawing: Callable[[str], bytes]
) -> dict[str, Any]:
    """What the template needs of one series."""
    from markupsafe import Markup

    last = series.releases[-1] if series.releases else None
    return {
        "name": series.series,
        "file": chart_file(series.series),
        "heading": wording.heading(series),
        "reading": reading(series, last, calendar) if last else "Nothing is published yet.",
        "news": news(series, last, calendar) if last else [],
        # Drawn from our own data by a renderer that escapes every text: safe as it stands.
        "svg": Markup(drawing(series.series).decode()) if last else None,
        "facts": _facts(series),
        "tables": _tables(series, last) if last else [],
    }


def _facts(series: PublishedSeries) -> list[tuple[str, str]]:
    return [
        ("Counted", f"{series.summary}; in graphveil's notation: {counted(series)}"),
        ("Privacy loss", f"{wording.budget(series.epsilon, series.delta)} for all its releases"),
        ("Sensitivity", _sensitivity(series.sensitivity)),
        ("Mechanism", f"{series.mechanism}: {series.mechanism_summary}"),
        ("Noise drawn", _noise(series)),
        ("Releases", _length(series)),
        *([("Expected", _expectation(series, found))] if (found := series.judgement) else []),
        *([("Processing", series.releases[-1].processing)] if series.releases else []),
    ]


def _expectation(series: PublishedSeries, found: Judgement) -> str:
    """The size that was stated beforehand, and what the announced noise leaves of it."""
    return (
        f"about {found.expected:,} in the end, which the publisher stated beforehand and did not "
        f"measure; the noise announced for release {len(series.predicted_std)} has a standard "
        f"deviation of {wording.figure(found.std)} ({percent(found.share)}): {found.word}"
    )


def _sensitivity(found: SensitivityFact) -> str:
    proof = f"proof: {found.proof} of graphveil"
    if found.of_one_release:
        return (
            f"one person can change each release of the series by at most {found.l1:,}, in every "
            f"network; {proof}"
        )
    reached = "this bound is tight" if found.exact else "this bound may not be tight"
    return (
        f"one person can change all releases of the series together by at most {found.l1:,} "
        f"({reached}), if {found.assumption}; {proof}"
    )


def _noise(series: PublishedSeries) -> str:
    laws = [
        f"{each.law} of {each.size[0]} {wording.fraction(each.size[1])} for "
        f"{wording.many(each.steps, 'step')}"
        for each in series.noise
    ]
    shown = [*laws[:3], f"and {len(laws) - 3} more, see card.json"] if len(laws) > 4 else laws
    return f"{'; '.join(shown)}; the table states how much of it is in each number"


def _length(series: PublishedSeries) -> str:
    made = wording.many(len(series.releases), "release")
    planned = f"of {series.horizon} planned" if series.horizon else "so far, with no fixed end"
    return f"{made} {planned}, from {series.first_label} on"


def _tables(series: PublishedSeries, last: ReleaseMade) -> list[dict[str, Any]]:
    if not series.vector:
        name, open_now = "All releases", len(series.releases) <= SHORT
        return [{"title": name, "open": open_now, "table": _scalar_table(series)}]
    return [
        {"title": f"{last.label}, all numbers", "open": False, "table": _degree_table(last)},
        {"title": "All releases", "open": False, "table": _vector_table(series)},
    ]


def _scalar_table(series: PublishedSeries) -> PageTable:
    level = wording.percent(series.releases[-1].level)
    told = any(made.changes for made in series.releases)
    return PageTable(
        (
            *("step", "in all", "raw", f"{level} interval", "noise (std)"),
            *(("new", "its interval") if told else ()),
        ),
        tuple(
            (
                made.label,
                *_cells(made, 0),
                wording.figure(made.noise_std),
                *(_new_cells(series, made) if told else ()),
            )
            for made in series.releases
        ),
    )


def _new_cells(series: PublishedSeries, made: ReleaseMade) -> tuple[str, str]:
    """What is new in a step; nothing at the first."""
    found = new_at(series, made)
    if not found:
        return "", ""
    new = found[0]
    if series.monotone:
        return wording.figure(new.value), wording.count_range(new.low, new.high)
    return wording.figure(new.value), f"{wording.figure(new.low)} to {wording.figure(new.high)}"


def _degree_table(made: ReleaseMade) -> PageTable:
    header = ("d", "processed", "raw", f"{wording.percent(made.level)} interval")
    return PageTable(header, tuple((str(d), *_cells(made, d)) for d in range(len(made.raw))))


def _cells(made: ReleaseMade, place: int) -> tuple[str, str, str]:
    return (
        wording.whole(made.processed[place])
        + (f" ({TOO_NOISY})" if is_drowned(made, place) else ""),
        wording.figure(made.raw[place]),
        wording.count_range(made.low[place], made.high[place]),
    )


def _vector_table(series: PublishedSeries) -> PageTable:
    """Step by degree; raw values stand in the rows below the processed ones."""
    rows: list[tuple[str, ...]] = []
    for made in series.releases:
        noise = wording.figure(made.noise_std)
        rows.append((made.label, *map(wording.whole, made.processed), noise))
        rows.append((f"{made.label}, raw", *map(wording.figure, made.raw), noise))
    header = ("step", *(str(degree) for degree in range(series.width)), "noise (std)")
    return PageTable(header, tuple(rows))
