"""Questions at a terminal: what a new study still lacks, each with why it matters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from graphveil.cli.options import SIZE
from graphveil.errors import GraphveilError, ParameterError

if TYPE_CHECKING:
    from graphveil.steward.planning.requests import SeriesRequest

Answers = Mapping[str, str]


@dataclass(frozen=True)
class Question:
    """Something a study needs to know.

    Attributes:
        key: what the answer is called, and the option that gives it without a question.
        text: the question.
        why: what the answer means, in a sentence or two.
        default: the answer of people who just press Enter; None if there can be none.
        check: refuses an answer that makes no sense, by an error.
        optional: whether the study can do without; then it is asked only among others.
    """

    key: str
    text: str
    why: str
    check: Callable[[str], object] = str
    default: str | None = None
    optional: bool = False


def completed(given: Answers) -> dict[str, str]:
    """The answers with those that were missing; without a terminal, a refusal that lists them."""
    answers = dict(given)
    needed = [each for each in _open(answers) if not each.optional]
    if not needed:
        return answers
    if not at_a_terminal():
        options = ", ".join(f"--{each.key}" for each in needed)
        raise ParameterError("new", f"needs {options}", hint="At a terminal, it asks for them.")
    while left := list(_open(answers)):
        answers[left[0].key] = _asked(left[0])
    return answers


def at_a_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def _asked(question: Question) -> str:
    """Ask until the answer makes sense."""
    typer.echo(f"\n{question.why}", err=True)
    while True:
        answer = str(typer.prompt(question.text, default=question.default, err=True)).strip()
        try:
            if answer or question.default is None:
                question.check(answer)
        except GraphveilError as error:
            typer.echo(f"  {error}", err=True)
            continue
        return answer


def _open(answers: Answers) -> Iterator[Question]:
    """Every question without an answer, in the order in which they are asked."""
    asked = [*_WHO, *_bound(answers), *_calendar(answers), *_BUDGET, *_sizes(answers)]
    return (each for each in asked if each.key not in answers)


def _bound(answers: Answers) -> list[Question]:
    if "no-bound" in answers:
        return [_DIRECTED]
    if "bound" in answers:
        return [_WHY_BOUND]
    directed = answers.get("directed") == "yes" or {"in-bound", "out-bound"} & answers.keys()
    if directed:
        return [_INWARD, _OUTWARD, _WHY_BOUND]
    return [_DIRECTED, _BOUND, _WHY_BOUND]


def _calendar(answers: Answers) -> list[Question]:
    if "cuts" in answers:
        return []
    every, first = answers.get("every", "year"), answers.get("first", "")
    return [
        Question(
            "every",
            "How long is a step?",
            "A step is a period that is published at once: a year, quarter, month, week or day, or "
            "a number of units.\nSteps are public; choose them without looking at the data.",
            _require_rhythm,
            default="year",
        ),
        Question(
            "first",
            "When does the first step begin?",
            "Everything earlier is counted in the first step. Write 2005, 2005-03 or 2005-03-17.",
            lambda text: _calendar_of(every, text, None),
        ),
        Question(
            "last",
            "Which is the last step?",
            "The noise is smaller if the number of releases is known. Leave empty if it is not.",
            lambda text: _calendar_of(every, first, text),
            default="",
            optional=True,
        ),
    ]


def _sizes(answers: Answers) -> list[Question]:
    """One for each series that does not say how large it will be."""
    series = series_requests(answers.get("series", ""))
    return [_size(each.called) for each in series if each.expected is None]


def _size(name: str) -> Question:
    return Question(
        SIZE + name,
        f"About how large will '{name}' be at the last step?",
        "A rough guess from public knowledge, never from the records: it is stored, and public, "
        "and the noise is held against it.\nLeave empty if there is none.",
        _size_check,
        default="",
        optional=True,
    )


def _size_check(text: str) -> None:
    from graphveil.steward.planning.requests import expected_size

    expected_size(text)


def series_requests(lines: str) -> list[SeriesRequest]:
    """The series that stand on a line, separated by blanks."""
    from graphveil.steward.planning.requests import SeriesRequest, series_data

    return [SeriesRequest(**series_data(line)) for line in lines.split()]


def _require_rhythm(text: str) -> None:
    from graphveil.steward.planning.drafting import RHYTHMS

    if text not in RHYTHMS and not text.isdigit():
        raise ParameterError("every", f"must be {', '.join(RHYTHMS)} or a whole number")


def _calendar_of(every: str, first: str, last: str | None) -> None:
    from graphveil.steward.planning.drafting import calendar

    calendar(every, first, last)


def _whole(text: str) -> None:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise ParameterError("bound", "must be a whole number of at least 1")


def _yes_or_no(text: str) -> None:
    if text not in ("yes", "no"):
        raise ParameterError("directed", "must be yes or no")


def _epsilon(text: str) -> None:
    from graphveil.noise.exact_numbers import exact_epsilon

    exact_epsilon(text)


def _series(text: str) -> None:
    from graphveil.statistics.statistic import registered, statistic

    for each in series_requests(text):
        if each.statistic not in registered():
            statistic(each.statistic)  # refuses it, and offers the nearest


def _anything(text: str) -> None:
    if not text:
        raise ParameterError("answer", "must not be empty")


_WHO = (
    Question("title", "What is the study called?", "The title of the public report.", _anything),
    Question(
        "population",
        "Whose network is it?",
        "The people who are protected, in public words, such as: people diagnosed with HIV in "
        "the county since 2005.",
        _anything,
    ),
    Question("publisher", "Who publishes it?", "The name of those responsible.", _anything),
)
_DIRECTED = Question(
    "directed",
    "Do links have a direction (yes or no)?",
    "If so, a link from A to B and a link from B to A are two different links.",
    _yes_or_no,
    default="no",
    optional=True,
)
_BOUND = Question(
    "bound",
    "At most how many links does a person have?",
    "The bound is a public promise; the noise grows with it, and who is linked to people with "
    "more links\nis protected less. Take it from public knowledge, never from the data. "
    "(--no-bound promises nothing.)",
    _whole,
)
_INWARD = Question("in-bound", "At most how many links to a person?", _BOUND.why, _whole)
_OUTWARD = Question("out-bound", "At most how many links from a person?", _BOUND.why, _whole)
_WHY_BOUND = Question(
    "bound-reason",
    "Why may the public believe this bound?",
    "The privacy card shows it. Name a source other than this network.",
    _anything,
)
_BUDGET = (
    Question(
        "epsilon",
        "How much privacy loss ε may all releases together cost?",
        "Smaller is more private and noisier. There is no default: the people who are "
        "responsible for it must decide.",
        _epsilon,
    ),
    Question(
        "epsilon-reason",
        "Why this much?",
        "The privacy card shows it, such as who decided and what was considered.",
        _anything,
    ),
    Question(
        "series",
        "Which series will be published?",
        "Names from `graphveil statistics`, separated by blanks, such as: edges "
        "high-degree:tau=3 triangles@1/4\n(@1/4 is the ε of a series; those without one share "
        "the rest).",
        _series,
        default="nodes edges",
    ),
)
