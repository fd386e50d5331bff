"""Reading alike: how files of a format were read before is how they are read again.

Which field dates people is the steward's choice, made once: with the first files of a format it is
kept in the private part of the study, and whoever says something else later has to say that this
is on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from graphveil.errors import ParameterError
from graphveil.formats import ReadingOptions
from graphveil.formats.columns.names import plain

_CHOICES = ("time", "edge_time", "day_first", "all_listed")
Choices = Mapping[str, Mapping[str, Any]]  # by format, then by option


def as_before(given: ReadingOptions, before: Choices) -> dict[str, ReadingOptions]:
    """What is left out now is as it was; the options for each format that was read before."""
    return {name: _completed(given, kept) for name, kept in before.items()}


def _completed(given: ReadingOptions, kept: Mapping[str, Any]) -> ReadingOptions:
    missing: dict[str, Any] = {each: kept[each] for each in kept if not getattr(given, each)}
    return replace(given, **missing)


def refuse_otherwise(
    used: Mapping[str, ReadingOptions], before: Choices, formats: Iterable[str]
) -> None:
    """Refuse options that differ from those under which files of a format were read before."""
    for name in formats:
        kept = before.get(name, {})
        for each in kept:
            if _compared(getattr(used[name], each)) != _compared(kept[each]):
                was = "not given" if not kept[each] else f"'{kept[each]}'"
                raise ParameterError(
                    each,
                    f"was {was} when {name} files were added before",
                    hint="Leave it out, or say --change-reading if it changes from now on.",
                )


def _compared(choice: str | bool | None) -> str | bool | None:
    return plain(choice) if isinstance(choice, str) else choice


def choices(
    given: ReadingOptions, used: Mapping[str, ReadingOptions], formats: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """What to keep about the files of these formats."""
    return {
        name: {each: getattr(used.get(name, given), each) for each in _CHOICES} for name in formats
    }
