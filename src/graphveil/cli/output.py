"""Output: tables for people, JSON for programs, safe text, a spinner, and `--quiet`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer
from typer.core import TyperCommand

from graphveil.cli.ending import HINTS
from graphveil.cli.layout import WIDEST, folded, table
from graphveil.hints import in_words

if TYPE_CHECKING:
    from rich.console import Console

    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.report.releases import Measurement
    from graphveil.steward.outlook import Outlook
    from graphveil.steward.sharing import Sharing
    from graphveil.steward.status import SeriesStatus

NARROWEST = 40  # places of a line, whatever a terminal says of itself


# What reaches a terminal is text: control characters from files are shown, not obeyed.
#
# A title, a column or a value may hold escape sequences that clear the screen, rename the window
# or turn text around. While a command runs, both of its streams write them out (`\x1b`), whatever
# prints: the commands, the option parser, a warning or a traceback. Only `output.console`, which
# draws tables and bars from text that it has cleaned itself, reaches the terminal directly.


# C0 but tab and line feed, DEL, C1; marks that turn text around; separators of lines; surrogates.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}]")
_UNSAFE_IN_A_LINE = re.compile(f"[\t\n{_CONTROLS}]")


def shown(text: str) -> str:
    """A text whose control characters are written out; line feeds and tabs stay."""
    return _UNSAFE.sub(_written_out, text)


def one_line(text: str) -> str:
    """A text from a file, which cannot pretend to be several lines."""
    return _UNSAFE_IN_A_LINE.sub(_written_out, text)


def shown_in_json(text: str) -> str:
    """JSON whose strings hold no control characters, and mean the same."""
    return _UNSAFE.sub(lambda each: f"\\u{ord(each[0]):04x}", text)


def _written_out(each: re.Match[str]) -> str:
    return each[0].encode("unicode_escape").decode()


class Encoded:
    """A stream that writes out what its encoding lacks: not every terminal knows an ε."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text as far as it can be written."""
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # writing bytes would bypass the cleaning
            raise AttributeError(name)
        return getattr(self.stream, name)


class PlainText(Encoded):
    """One that shows control characters as well."""

    def write(self, text: str) -> int:
        """Write a text, made harmless; on a screen, its lines are broken between words."""
        plain = shown(text)
        super().write(folded(plain, screen_width()) if self.stream.isatty() else plain)
        return len(text)


@contextmanager
def text_only() -> Iterator[None]:
    """Let both streams of this process show control characters, for as long as it lasts."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, PlainText(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def terminal(stream: TextIO) -> TextIO:
    """The underlying stream, for callers that clean what they print."""
    return cast(TextIO, Encoded(stream.stream)) if isinstance(stream, PlainText) else stream


def screen_width() -> int:
    """How many places a line of the terminal has."""
    from shutil import get_terminal_size

    return max(get_terminal_size().columns, NARROWEST)


def print_json(data: Any) -> None:
    """Print data for programs; what helps is said in the words of commands."""
    print_as_it_is(shown_in_json(json.dumps(_worded(data), indent=2, ensure_ascii=False)))


def print_as_it_is(text: str) -> None:
    """Print what programs read, which is clean already: no line of it is broken."""
    print(text, file=terminal(sys.stdout))


def _worded(data: Any) -> Any:
    """Data in which every hint is in the words of commands."""
    if isinstance(data, dict):
        return {key: _worded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_worded(value) for value in data]
    return in_words(data, HINTS) if isinstance(data, str) else data


def print_note(text: str) -> None:
    """Print a note for people beside the result, on standard error, unless --quiet is given."""
    if not is_quiet():
        print(text, file=sys.stderr)


def console() -> Console:
    """Standard error to draw bars on; callers pass text that is clean already."""
    from rich.console import Console

    drawn = False if is_quiet() else None  # no animated bars, whatever the output is
    stream = terminal(sys.stderr)
    return Console(file=stream, markup=False, highlight=False, force_terminal=drawn)


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1
) -> None:
    """Print a table for people; all but the first columns are numbers, set flush right."""
    names = [one_line(name) for name in header]
    cells = [[one_line(_cell(value)) for value in row] for row in rows]
    width = screen_width() if sys.stdout.isatty() else WIDEST  # a pipe has none of its own
    print(one_line(title), *table(names, cells, text_columns, width), sep="\n")


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def three_digits(number: float) -> str:
    """As many digits as mean anything to a reader."""
    from graphveil.mechanisms.planning.usefulness import rounded

    return rounded(number)


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that something is going on; silent unless standard error is a terminal."""
    if not sys.stderr.isatty() or is_quiet():
        yield
        return
    from rich.text import Text

    shown = console()
    with shown.status(Text(one_line(message))):
        yield


# Tables that several commands print: predicted errors, series, releases.


BEYOND = (
    "A hub has more links than the bound. A broken promise does not stop a study:\n"
    "whoever is linked to more hubs loses more. --if-broken refuse stops it instead."
)
UNSPENT = "Nothing is spent by looking: these numbers follow from the study file alone."


def print_outlooks(title: str, outlooks: Sequence[Outlook]) -> None:
    """One row per series: what it costs, the standard deviation of its noise, and what it means."""
    judged = any(each.judgement for each in outlooks)
    projected = any(each.series.projection is not None for each in outlooks)
    print_table(
        title,
        (
            *("series", "ε", "mechanism", *(("projection",) if projected else ())),
            *("first", "mean", "last"),
            *(("expected", "the last will be") if judged else ()),
        ),
        (
            (
                each.series.name,
                each.series.share,
                each.plan.mechanism.name,
                *((_projection(each),) if projected else ()),
                three_digits(each.plan.predicted[0]),
                three_digits(each.plan.mean_std),
                three_digits(each.plan.last_std),
                *(_judgement(each) if judged else ()),
            )
            for each in outlooks
        ),
        text_columns=4 if projected else 3,
    )
    for each in outlooks:
        print_rival(f"Series {each.series.name}", each.plan)
        if each.narrower:
            given, fewer = each.narrower
            print(
                f"Series {each.series.name} with {given}: {three_digits(fewer.mean_std)} on "
                f"average, not {three_digits(each.plan.mean_std)}."
            )
        if each.too_noisy_cells:
            print(each.too_noisy_cells)
    if any(each.leaves_out for each in outlooks):
        what = "a projection leaves out" if projected else "is beyond the bound is not counted, and"
        print(
            f"What {what} comes on top. It is unknown, and must not be measured on "
            "your own records: try a public network of the same kind, `graphveil promise FILES`."
        )


def print_rival(name: str, plan: Plan) -> None:
    """Where a threshold follows, the promise that would do as well, so that both can be weighed."""
    from graphveil.mechanisms.following import rival_bound

    if plan.mechanism.follows:
        bound = rival_bound(plan.predicted, plan.request.epsilon)
        print(
            f"{name} is counted at thresholds that follow what is published. A promise of at most "
            f"about {bound:,} links per person would have about as much error: take it if you can "
            "defend it. In a dense network without hubs, a promise of a few times as many does."
        )


def _projection(outlook: Outlook) -> str | None:
    """The threshold as users write it."""
    threshold = outlook.series.threshold()
    return None if threshold is None else threshold.brief


def _judgement(outlook: Outlook) -> tuple[str | None, str | None]:
    """The size that is expected, and what the noise leaves of it."""
    from graphveil.mechanisms.planning.usefulness import percent

    judgement = outlook.judgement
    if judgement is None:
        return None, None
    left = f"{judgement.word.in_words}, ±{percent(judgement.share)}"
    return f"about {judgement.expected:,}", left


def print_shares(found: Sharing) -> None:
    """One row per series that named no share: what it got, and what another would do."""
    from graphveil.mechanisms.planning.usefulness import percent

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
    from graphveil.report.wording import rounded_up

    exposed = {name: each for name, each in times.items() if each}
    if not exposed:
        return
    numbers = list(next(iter(exposed.values())))
    print_table(
        "Times ε for a person who is linked to more hubs than promised",
        ("series", *(f"{number} more" for number in numbers)),
        ((name, *map(rounded_up, each.values())) for name, each in exposed.items()),
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
    from graphveil.report.wording import count_range, whole

    level = float(100 * exact("level", rows[0].level))
    print_table(
        title,
        ("series", "step", "raw", "processed", f"true, {level:.6g}% sure", "new"),
        (
            (
                row.called,
                row.label,
                row.raw,
                whole(row.processed),
                count_range(row.low, row.high),
                "" if row.new_low is None else f"{row.new_low:,} to {row.new_high:,}",
            )
            for row in rows
        ),
        text_columns=2,
    )
    limits = {row.series: row.limit for row in rows if row.limit is not None}  # the newest of each
    for series, limit in limits.items():
        print(f"{series}: {limit}.")


_ASKED = "graphveil.quiet"
_QUIET: ContextVar[bool] = ContextVar(_ASKED, default=False)
_FOR_PROGRAMS = ("as_json", "as_csv")  # what these ask for is printed all the same


class Verb(TyperCommand):
    """A command with an option to print nothing unless something is wrong."""

    @cached_property
    def _quiet(self) -> Any:
        return _made_option()

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, and before the last, which is help, `--quiet`."""
        *own, about_help = super().get_params(ctx)
        return [*own, self._quiet, about_help]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store whether it was given, for the functions that print."""
        rest = super().parse_args(ctx, args)
        ctx.meta[_ASKED] = ctx.params.pop("quiet")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it would print for people is dropped if --quiet is given."""
        asked = bool(ctx.meta[_ASKED])
        wanted = any(ctx.params.get(name) for name in _FOR_PROGRAMS)
        before = _QUIET.set(asked)
        try:
            with _silence() if asked and not wanted else nullcontext():
                return super().invoke(ctx)
        finally:
            _QUIET.reset(before)


def is_quiet() -> bool:
    """Whether the running command was asked to be quiet."""
    return _QUIET.get()


@contextmanager
def _silence() -> Iterator[None]:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield


def _made_option() -> Any:
    """The option, as typer makes it of a function's signature."""
    holder = typer.Typer(add_completion=False)

    @holder.command()
    def asked(
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Print warnings, questions and errors only.")
        ] = False,
    ) -> None:
        """Stand for the signature; never called."""

    return typer.main.get_command(holder).params[0]
