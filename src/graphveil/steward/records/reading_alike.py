"""Reading alike: how files of a format were read before is how they are read again.

Which field dates people is the steward's choice, made once: with the first files of a format it is
kept in the private part of the study, and whoever says something else later has to say that this
is on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphveil.errors import ParameterError
from graphveil.formats import ReadFiles, ReadingOptions
from graphveil.formats.columns.distances import Threshold
from graphveil.formats.columns.filters import Filter
from graphveil.formats.columns.names import plain
from graphveil.formats.options import Undated

_OF_PEOPLE = ("time", "all_listed")  # kept only where the files date people
_CHOICES = (
    *_OF_PEOPLE, "edge_time", "day_first", "id", "source", "target", "distance", "max_distance",
    "where", "excel_dates", "undated", "encoding",
)  # fmt: skip
# What nobody said changed nothing before: without it such files were refused, or did not come.
_LATER = ("day_first", "id", "source", "target", "distance", "max_distance", "undated", "encoding")
Choices = Mapping[str, Mapping[str, Any]]  # by format, then by option


def as_before(given: ReadingOptions, before: Choices) -> dict[str, ReadingOptions]:
    """What is left out now is as it was; the options for each format that was read before."""
    return {name: _completed(given, kept) for name, kept in before.items()}


def _completed(given: ReadingOptions, kept: Mapping[str, Any]) -> ReadingOptions:
    missing: dict[str, Any] = {
        each: _value(kept[each]) for each in kept if not _is_said(getattr(given, each))
    }
    return replace(given, **missing)


def _is_said(choice: object) -> bool:
    """Whether somebody made a choice; of a yes or no that has two words, no is one, too."""
    return choice not in (None, ()) and choice is not False


def _value(kept: Any) -> Any:
    return tuple(kept) if isinstance(kept, list) else kept


def refuse_otherwise(used: Mapping[str, ReadingOptions], before: Choices, found: ReadFiles) -> None:
    """Refuse options that differ from those under which files of a format were read before."""
    for name in found.read:
        kept = before.get(name, {})
        for each in kept:
            if each in _OF_PEOPLE and name not in found.formats:
                continue
            if each in _LATER and kept[each] is None:
                continue
            if not _agree(getattr(used[name], each), _value(kept[each])):
                was = "not given" if not kept[each] else f"'{_shown(kept[each])}'"
                raise ParameterError(
                    each,
                    f"was {was} when {name} files were added before",
                    hint="Leave it out, or say --change-reading if it changes from now on.",
                )


def _shown(choice: Any) -> str:
    return " and ".join(choice) if isinstance(choice, list | tuple) else str(choice)


def _agree(now: Any, before: Any) -> bool:
    """Whether two choices mean the same."""
    if isinstance(now, tuple) and isinstance(before, tuple):
        return _conditions(now) == _conditions(before)
    if isinstance(now, str) and isinstance(before, str):
        return plain(now) == plain(before) or _same_distance(now, before)
    return bool(now == before)


def _conditions(texts: tuple[str, ...]) -> set[Filter]:
    """Conditions without their kind of table, which is understood and then kept."""
    return {replace(Filter.of(each), kind=None) for each in texts}


def _same_distance(now: str, before: str) -> bool:
    try:
        return Threshold.of(now).agrees(Threshold.of(before))
    except ParameterError:
        return False


def choices(
    given: ReadingOptions,
    used: Mapping[str, ReadingOptions],
    before: Choices,
    found: ReadFiles,
) -> dict[str, dict[str, Any]]:
    """What to keep about the files of these formats: all that was said, as it was understood."""
    return {
        name: {
            **before.get(name, {}),
            **{
                each: getattr(used.get(name, given), each)
                for each in _CHOICES
                if each not in _OF_PEOPLE or name in found.formats
            },
            **found.understood.get(name, {}),
        }
        for name in found.read
    }


def undated(
    given: ReadingOptions, used: Mapping[str, ReadingOptions], found: ReadFiles
) -> Undated | None:
    """What becomes of people without a date: as is said now, or was for files of these formats."""
    said = (used.get(name, given).undated for name in found.read)
    return given.undated or next((each for each in said if each is not None), None)
