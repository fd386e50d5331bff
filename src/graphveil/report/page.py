"""The page: the whole publication for readers, in one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from graphveil.calendar import phrases
from graphveil.mechanisms.planning.usefulness import percent
from graphveil.report import page_tables, statement, wording
from graphveil.report.artefacts import file_name
from graphveil.report.card import NO_PROMISE, NO_REASON
from graphveil.report.charts import BARS, thinning
from graphveil.report.estimates import with_estimates
from graphveil.report.frame import NARROW, WIDE
from graphveil.report.news import headline, news, overview, reading
from graphveil.report.public_tables import tables_of
from graphveil.report.releases import counted
from graphveil.report.summary import distribution, summary
from graphveil.study.facts import EVERY_NETWORK

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from graphveil.calendar.calendar import Calendar
    from graphveil.mechanisms.planning.usefulness import Judgement
    from graphveil.report.charts import Truth
    from graphveil.report.page_tables import PageTable
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

PRINTED = 6  # series whose charts the short edition on paper shows: on one page
LISTED = 18  # series that it lists
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
class RehearsedPage:
    """What stands on a page only because it is a rehearsal.

    Attributes:
        note: that it is one, which stays in sight.
        comparison: the truth beside what would be published.
        truth: by series, the true numbers of every step.
    """

    note: str
    comparison: PageTable
    truth: Mapping[str, Truth]


def page(part: PublicPart, rehearsed: RehearsedPage | None = None) -> bytes:
    """The page as a file; one that is only rehearsed says so, and shows the truth."""
    return template(TEMPLATE).render(_context(part, rehearsed)).encode()


def template(name: str) -> jinja2.Template:
    """One of our templates, in which every text is escaped and every name must exist."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("graphveil.report"),
        autoescape=True,  # titles and reasons are texts of other people
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _context(part: PublicPart, rehearsed: RehearsedPage | None) -> dict[str, Any]:
    part = with_estimates(part)
    epsilon, delta = part.total
    calendar = part.promise.calendar
    truth = rehearsed.truth if rehearsed else {}
    return {
        "rehearsed": rehearsed,
        "part": part,
        "promise": part.promise,
        "statement": statement,
        "words": wording,
        "summary": summary(part),
        "headline": headline(part),
        "cards": _cards(part),
        "big": _big(part),
        "glance_times": _overview_times(part),
        "step_name": phrases.step_name(calendar),
        "ratios": list(page_tables.ratio_tables(part)),
        "series": [_section(each, part, truth.get(each.series)) for each in part.series],
        "printed": PRINTED,
        "listed": LISTED,
        "span": wording.span(part),
        "budget": wording.budget(epsilon, delta),
        "calendar": calendar,
        "next_step": _next_step(part),
        "level": wording.percent(part.promise.confidence),
        "tables": page_tables,
        "files": tables_of(part),
        "why_no_bound": NO_PROMISE,
        "spent_share": f"{float(part.spent[0] / epsilon):.1%}",
        "no_reason": NO_REASON,
        "check": CHECK,
    }


def _overview_times(part: PublicPart) -> tuple[str, str]:
    """Up to when and during which time the newest numbers count."""
    calendar, step = part.promise.calendar, max(len(part.steps) - 1, 0)
    return phrases.by(calendar, step), phrases.during(calendar, step)


def _next_step(part: PublicPart) -> str | None:
    calendar, step = part.promise.calendar, len(part.steps)
    last = calendar.last_step
    return calendar.label(step) if last is None or step <= last else None


def _section(series: PublishedSeries, part: PublicPart, truth: Truth | None) -> dict[str, Any]:
    """What the template needs of one series; the truth of it only where all is rehearsed."""
    last = series.releases[-1] if series.releases else None
    calendar = part.promise.calendar
    return {
        "name": series.series,
        "file": file_name(series.series),
        "heading": wording.heading(series),
        "reading": reading(series, last, calendar) if last else "Nothing is published yet.",
        "news": [*news(series, last, calendar), *distribution(series, part)] if last else [],
        "drawings": _drawings(series, calendar, truth) if last else {},
        "new_title": _new_title(series, calendar),
        "thinning": thinning(series),
        "divided": series.breakdown is not None,
        "facts": _facts(series),
        "tables": page_tables.release_tables(series) if last else (),
    }


def _drawings(series: PublishedSeries, calendar: Calendar, truth: Truth | None) -> dict[str, Any]:
    """Totals beside what is new; or one chart for wide and one for narrow paper.

    The heading above a chart is its title.
    """
    from graphveil.report import charts

    drawn = partial(charts.drawing, series, calendar, titled=False, truth=truth)
    if new := charts.news_drawing(series, calendar, NARROW):
        return {"total": _safe(drawn(NARROW)), "new": _safe(new)}
    return {"wide": _safe(drawn(WIDE)), "narrow": _safe(drawn(NARROW))}


def _safe(drawn: bytes) -> Markup:
    """A chart as it is: drawn from our own data, with every text escaped."""
    from markupsafe import Markup

    return Markup(drawn.decode())


def _new_title(series: PublishedSeries, calendar: Calendar) -> str:
    word = "New" if series.monotone else "Change"
    recent = ", the newest" if len(series.releases) > BARS else ""
    return f"{word} each {phrases.step_name(calendar)}{recent}"


def _cards(part: PublicPart) -> list[dict[str, Any]]:
    """What each series says, with a small chart."""
    known = {each.series: each for each in part.series}
    return [
        {**vars(each), "spark": _spark(known[each.series], each.place)} for each in overview(part)
    ]


def _spark(series: PublishedSeries, place: int | None) -> Markup | None:
    """One number over its steps, where it has several."""
    from graphveil.report import charts

    if place is None or len(series.releases) < 2:
        return None
    return _safe(charts.spark(series, place))


def _big(part: PublicPart) -> dict[str, Any] | None:
    """The number that stands above all others."""
    top = headline(part)
    if top is None:
        return None
    known = top.known
    least = wording.count_range(known.low, known.high)
    number = least if known.too_noisy else wording.whole(known.value)
    return {"number": number, "spark": _spark(top.series, top.place)}


def _facts(series: PublishedSeries) -> list[tuple[str, str]]:
    return [
        ("Counted", f"{series.summary}; in graphveil's notation: {counted(series)}"),
        ("Privacy loss", f"{wording.price(series)} for all its releases"),
        ("Sensitivity", _sensitivity(series)),
        ("Mechanism", f"{series.mechanism}: {series.mechanism_summary}"),
        *([("Minimised", aim)] if (aim := statement.aim(series)) else []),
        ("Noise drawn", _noise(series)),
        ("Releases", _length(series)),
        *([("Expected", _expectation(series, judged))] if (judged := series.judgement) else []),
        *([("Processing", series.releases[-1].processing)] if series.releases else []),
    ]


def _expectation(series: PublishedSeries, judged: Judgement) -> str:
    """The size that was stated beforehand, and what the announced noise leaves of it."""
    divided = judged.expected != series.promise.expected
    largest = f", the largest of its numbers about {judged.expected:,}" if divided else ""
    return (
        f"about {series.promise.expected:,} in the end{largest}, which the publisher stated "
        f"beforehand and did not measure; the noise announced for release "
        f"{len(series.predicted_std)} has a standard deviation of {wording.figure(judged.std)} "
        f"({percent(judged.share)}): {judged.word.in_words}"
    )


def _sensitivity(series: PublishedSeries) -> str:
    fact = series.sensitivity
    proof = f"proof: {fact.proof} of {series.defined_by.get('statistic', 'graphveil')}"
    if fact.in_thresholds:
        return (
            "one person can change each release of the series by at most the threshold that it "
            f"states, in every network; {proof}"
        )
    if fact.of_one_release:
        return (
            f"one person can change each release of the series by at most {fact.l1:,}, in every "
            f"network; {proof}"
        )
    anywhere = fact.assumption == EVERY_NETWORK
    condition = "in every network" if anywhere else f"if {fact.assumption}"
    reached = "this bound is tight" if fact.exact else "this bound may not be tight"
    return (
        f"one person can change all releases of the series together by at most {fact.l1:,} "
        f"({reached}), {condition}; {proof}"
    )


def _noise(series: PublishedSeries) -> str:
    laws = [
        f"{each.law} of {each.size[0]} {wording.fraction(each.size[1])} for "
        f"{wording.many(each.steps, 'step')}"
        for each in series.noise
    ]
    shown = [*laws[:3], f"and {len(laws) - 3} more, see card.json"] if len(laws) > 4 else laws
    unit = ", in parts of the threshold" if series.sensitivity.in_thresholds else ""
    return f"{'; '.join(shown)}{unit}; the table states how much of it is in each number"


def _length(series: PublishedSeries) -> str:
    made = wording.many(len(series.releases), "release")
    planned = f"of {series.horizon} planned" if series.horizon else "so far, with no fixed end"
    return f"{made} {planned}, from {series.first_label} on"
