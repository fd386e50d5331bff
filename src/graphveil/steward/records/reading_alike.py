"""Reading alike: files are read as those before them, here and by Spark.

Which field dates people is the steward's choice, made once: with the first files of a format it is
stored in the private part of the study, and a different choice later has to be confirmed as
intended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.hints import Hint
from graphveil.records import ReadFiles, ReadingOptions
from graphveil.records.columns import plain
from graphveil.records.options import Filter, Threshold, Undated

if TYPE_CHECKING:
    pass


_OF_PEOPLE = ("time", "time_from_id", "all_listed")  # stored only where the files date people
_CHOICES = (
    *_OF_PEOPLE, "edge_time", "day_first", "id", "source", "target", "distance", "max_distance",
    "where", "group", "excel_dates", "undated", "encoding",
)  # fmt: skip
# Options that may be given for the first time later: without one of them, files that need it were
# refused, so no earlier file was read otherwise.
_LATER = ("day_first", "id", "source", "target", "distance", "max_distance", "undated", "encoding")
Choices = Mapping[str, Mapping[str, Any]]  # by format, then by option


def as_before(given: ReadingOptions, before: Choices) -> dict[str, ReadingOptions]:
    """The options for each format that was read before: those not given now stay as they were."""
    return {name: _completed(given, stored) for name, stored in before.items()}


def _completed(given: ReadingOptions, stored: Mapping[str, Any]) -> ReadingOptions:
    dated = given.time is not None or given.time_from_id is not None  # one stands for the other
    missing: dict[str, Any] = {
        each: _value(stored[each])
        for each in stored
        if not _is_given(getattr(given, each)) and not (dated and each in ("time", "time_from_id"))
    }
    return replace(given, **missing)


def _is_given(choice: object) -> bool:
    """Whether the steward gave this option; a flag that was not set counts as not given."""
    return choice not in (None, ()) and choice is not False


def _value(stored: Any) -> Any:
    return tuple(stored) if isinstance(stored, list) else stored


def refuse_otherwise(used: Mapping[str, ReadingOptions], before: Choices, found: ReadFiles) -> None:
    """Refuse options that differ from those under which files of a format were read before."""
    for name in found.read:
        stored = before.get(name, {})
        for each in stored:
            if each in _OF_PEOPLE and name not in found.formats:
                continue
            if each in _LATER and stored[each] is None:
                continue
            if not _agree(getattr(used[name], each), _value(stored[each])):
                was = "not given" if not stored[each] else f"'{_shown(stored[each])}'"
                raise ParameterError(
                    each,
                    f"was {was} when {name} files were added before",
                    hint=Hint("change-reading"),
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
    """Conditions without their kind of table, which is worked out and then stored."""
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
    """What to store about the files of these formats: all given options, as understood."""
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
    """What becomes of people without a date: as given now, or before for files of these formats."""
    choices_made = (used.get(name, given).undated for name in found.read)
    return given.undated or next((each for each in choices_made if each is not None), None)
