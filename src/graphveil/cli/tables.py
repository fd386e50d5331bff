"""Tables that several commands print: predicted errors, series, releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from graphveil.cli.output import print_table, three_digits

if TYPE_CHECKING:
    from graphveil.report.tables.releases import Measurement
    from graphveil.steward.beforehand.outlook import Outlook
    from graphveil.steward.beforehand.sharing import Sharing
    from graphveil.steward.status import SeriesStatus

BEYOND = (
    "A hub has more links than the bound. A broken promise does not stop a study:\n"
    "whoever is linked to more hubs loses more. --if-broken refuse stops it instead."
)
UNSPENT = "Nothing is spent by looking: these numbers follow from the study file alone."


def print_outlooks(title: str, outlooks: Sequence[Outlook]) -> None:
    """One row per series: what it costs, the standard deviation of its noise, and what it means."""
    judged = any(each.judgement for each in outlooks)
    headings = ("series", "ε", "mechanism", "first", "mean", "last", "next best, mean")
    print_table(
        title,
        (*headings, *(("expected", "the last will be") if judged else ())),
        (
            (
                each.series.name,
                each.series.share,
                each.plan.mechanism.name,
                three_digits(each.plan.predicted[0]),
                three_digits(each.plan.mean_std),
                three_digits(each.plan.last_std),
                _next_best(each),
                *(_judgement(each) if judged else ()),
            )
            for each in outlooks
        ),
        text_columns=3,
    )


def _next_best(outlook: Outlook) -> str | None:
    if not outlook.others or outlook.others[0].plan is None:
        return None
    return f"{outlook.others[0].name}, {three_digits(outlook.others[0].plan.mean_std)}"


def _judgement(outlook: Outlook) -> tuple[str | None, str | None]:
    """The size that is expected, and what the noise leaves of it."""
    from graphveil.planning.usefulness import percent

    found = outlook.judgement
    if found is None:
        return None, None
    return f"about {found.expected:,}", f"{found.word}, ±{percent(found.share)}"


def print_shares(found: Sharing) -> None:
    """One row per series that named no share: what it got, and what another would do."""
    from graphveil.planning.usefulness import percent

    sized = any(each.part is not None for each in found.shares)
    headings = ("series", "share, ε", "minimised", "error")
    changed = ("with a fifth more", "with a fifth less")
    print_table(
        "Shares of the budget, the error that each keeps small, and what another share would do",
        (*headings, *(("of what is expected",) if sized else ()), *changed),
        (
            (
                *(each.series, each.share, each.minimise, three_digits(each.error)),
                *((None if each.part is None else percent(each.part),) if sized else ()),
                *(three_digits(each.more), three_digits(each.less)),
            )
            for each in found.shares
        ),
        text_columns=3,
    )
    print(found.how)
    if found.pool:
        print(found.pool)


def print_losses(times: Mapping[str, Mapping[int, Fraction]]) -> None:
    """What it costs to be linked to more hubs than promised; nothing where nobody loses more.

    Args:
        times: by series and by how many hubs more, in multiples of its ε.
    """
    from graphveil.report.exposed import rounded_up

    found = {name: each for name, each in times.items() if each}
    if not found:
        return
    numbers = list(next(iter(found.values())))
    print_table(
        "Times ε for a person who is linked to more hubs than promised",
        ("series", *(f"{number} more" for number in numbers)),
        ((name, *map(rounded_up, each.values())) for name, each in found.items()),
    )
    print(BEYOND)


def print_series(title: str, series: Sequence[SeriesStatus]) -> None:
    """One row per series: where it comes from, and its price."""
    expected = any(each.expected for each in series)
    print_table(
        title,
        ("series", "statistic", "mechanism", "from", "ε", "releases", "expected")[: 6 + expected],
        (
            (
                *(each.name, each.statistic, each.mechanism, each.first, each.share),
                *(each.releases, each.expectation or None)[: 1 + expected],
            )
            for each in series
        ),
        text_columns=4,
    )


def print_releases(title: str, rows: Sequence[Measurement]) -> None:
    """One row per published number; there must be one."""
    from graphveil.noise.exact_numbers import exact
    from graphveil.report.wording import count_range

    level = float(100 * exact("level", rows[0].level))
    print_table(
        title,
        (
            *("series", "step", "raw", "processed", f"true number, with {level:.6g}% confidence"),
            "new in the step",
        ),
        (
            (
                row.series if row.degree is None else f"{row.series}, degree {row.degree}",
                row.label,
                row.raw,
                f"{row.processed:,.6g}" if row.processed < 1e6 else f"{row.processed:,.0f}",
                count_range(row.low, row.high),
                "" if row.new_low is None else f"{row.new_low:,} to {row.new_high:,}",
            )
            for row in rows
        ),
        text_columns=2,
    )
