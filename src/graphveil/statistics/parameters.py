"""The parameters of a statistic: how users give them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass
from typing import Any

from graphveil.errors import ParameterError


@dataclass(frozen=True)
class Parameter:
    """What a statistic needs to know, and how users specify it.

    Attributes:
        name: the statistic's field.
        flags: what it is called on the command line.
        metavar: what stands for its value in a usage line.
        help: what it means, in one sentence.
        parse: its value, from what a user typed or a study file holds. What is not such a value
            is handed through: the statistic refuses it in its own words.
        default: its value where users say nothing; None if they must.
    """

    name: str
    flags: tuple[str, ...]
    metavar: str
    help: str
    parse: Callable[[str | int], Any]
    default: int | None = None


def told(
    *flags: str, metavar: str, meaning: str, parse: Callable[[str | int], Any]
) -> dict[str, Any]:
    """How users specify a parameter; the metadata of its field. See `Parameter`."""
    return {"flags": flags, "metavar": metavar, "help": meaning, "parse": parse}


WINDOW = "window"  # what every statistic takes
NEWEST = "newest"
STEPS = (WINDOW, NEWEST)  # numbers of steps, which reports give in the words of the calendar
_WINDOW_HELP = (
    "Count only people who arrived in the last N steps, and links among them. Every statistic "
    "takes it."
)


def window_field() -> dict[str, Any]:
    """How users give the number of steps for which people are counted."""
    return told(f"--{WINDOW}", metavar="N", meaning=_WINDOW_HELP, parse=whole_number)


def whole_number(given: str | int) -> str | int:
    """A whole number from the text of one; anything else as it came, to be refused later."""
    try:
        return int(given) if isinstance(given, str) else given
    except ValueError:
        return given


def parameter_of(given: Field[Any]) -> Parameter:
    """A field that says no more is a whole number, as `Statistic.definition_arguments` has it."""
    plain = told(f"--{given.name}", metavar="N", meaning="", parse=whole_number)
    default = None if given.default is MISSING else given.default
    return Parameter(given.name, default=default, **(plain | dict(given.metadata)))


def require_at_least(parameter: str, value: int, least: int, hint: str) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(
            parameter, f"must be a whole number of at least {least}, not {value!r}", hint=hint
        )
