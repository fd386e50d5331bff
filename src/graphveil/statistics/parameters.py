"""Checks of parameters that several statistics share."""

from __future__ import annotations

from graphveil.errors import ParameterError


def require_at_least(parameter: str, value: int, least: int, hint: str) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(
            parameter, f"must be a whole number of at least {least}, not {value!r}", hint=hint
        )
