"""Steps: by their public names, and which of them have ended and are due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.errors import InputError, ParameterError

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.study import Promise


def step_called(calendar: Calendar, label: str, parameter: str) -> int:
    """The step of this name; refuses other times that lie in it."""
    examples = ", ".join(calendar.labels(min(2, (calendar.last_step or 1) + 1)))
    refusal = ParameterError(
        parameter, f"no step is called '{label}'", hint=f"Steps are called {examples} and so on."
    )
    try:
        number = calendar.step_of(label)
    except InputError as error:
        raise refusal from error
    if calendar.label(number) != label:
        raise refusal
    return number


def last_ended(promise: Promise) -> int:
    """The last step that has ended; refuses a calendar that the clock says nothing about."""
    from graphveil.study.clock import steps_ended

    if _is_endless(promise):
        raise ParameterError(
            "all", "cannot be used: steps are plain numbers, not dates", hint="Use --through LABEL."
        )
    return steps_ended(promise) - 1


def steps_due(promise: Promise, sealed: int) -> int | None:
    """How many steps have ended and are not sealed; None if there is no clock for them."""
    from graphveil.study.clock import steps_ended

    return None if _is_endless(promise) else max(0, steps_ended(promise) - sealed)


def _is_endless(promise: Promise) -> bool:
    """Whether nothing says which step is the last that has ended."""
    from graphveil.calendar.units import Unit

    calendar = promise.calendar
    return calendar.unit == Unit.NUMBER and calendar.last_step is None
