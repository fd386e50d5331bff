"""How files are to be read: one set of options for every command that reads files.

A command that takes a parameter `reading` gets them all, in the place of that parameter.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Limit, most_bytes

if TYPE_CHECKING:
    from graphveil.records import ReadingOptions

_PARAMETER = "reading"


class Undated(StrEnum):
    """What becomes of people without a date."""

    REFUSE = "refuse"
    FIRST = "first"
    DROP = "drop"


@dataclass(frozen=True)
class Reading:
    """The user's options for reading files.

    Attributes:
        format: of all files; None recognises each.
        options: everything else.
    """

    format: str | None
    options: ReadingOptions


def _text(flag: str, text: str, metavar: str = "COLUMN") -> tuple[Any, Any]:
    return Annotated[str | None, typer.Option(flag, metavar=metavar, help=text)], None


def _texts(flag: str, text: str, metavar: str) -> tuple[Any, Any]:
    return Annotated[list[str] | None, typer.Option(flag, metavar=metavar, help=text)], None


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format_": _text("--format", "Of all files, else detected.", "NAME"),
    "id": _text("--id", "Column that names a person."),
    "source": _text("--source", "Column that names one end of a link."),
    "target": _text("--target", "Column that names the other end."),
    "time": _text(
        "--time",
        "Column or field with a node's date; of A,B the first that is filled in.",
        "FIELD",
    ),
    "time_from_id": _text(
        "--time-from-id",
        "The date is field N of a node's id, such as '|2' or, the last, '|-1'.",
        "MARK+N",
    ),
    "edge_time": _text("--edge-time", "Column or field with an edge's date.", "FIELD"),
    "distance": _text("--distance", "Column with distances; none: every row is a link."),
    "max_distance": _text(
        "--max-distance", "Pairs up to this distance are links, such as 0.015 or '12 snps'.", "D"
    ),
    "where": _texts(
        "--where",
        "Only such records count, also with !=, <, <=, >, >=. May be repeated.",
        "COLUMN=VALUE",
    ),
    "group": _texts(
        "--group",
        "Column with people's labels in a group of the study. May be repeated.",
        "NAME=COLUMN",
    ),
    "day_first": (
        Annotated[
            bool | None,
            typer.Option("--day-first/--month-first", help="Whether 7/8/2021 is 7 August."),
        ],
        None,
    ),
    "excel_dates": (
        Annotated[
            bool, typer.Option("--excel-dates", help="Plain numbers are days as Excel counts.")
        ],
        False,
    ),
    "encoding": _text("--encoding", "Of text, such as windows-1252.", "NAME"),
    "undated": (
        Annotated[
            Undated | None,
            typer.Option(
                "--undated", help="People without a date (default: as the study says).",
                show_default=False,
            ),
        ],
        None,
    ),
    "all_listed": (
        Annotated[
            bool,
            typer.Option(
                "--all-listed", help="HIV-TRACE lists everybody, also without Singletons."
            ),
        ],
        False,
    ),
    "limit": (Limit, None),
}  # fmt: skip


def taking_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with all options on reading, for the shell; it is handed one `Reading`."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.name != _PARAMETER]
    at = list(signature.parameters).index(_PARAMETER)
    kind = inspect.Parameter.KEYWORD_ONLY
    more = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]
    shown = [each.replace(kind=kind) for each in [*own[:at], *more, *own[at:]]]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in _OPTIONS}
        command(**given, reading=_reading(**chosen))

    with_options.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in shown}
    del with_options.__wrapped__
    return with_options


def _reading(
    *,
    format_: str | None,
    limit: str | None,
    where: list[str] | None,
    group: list[str] | None,
    undated: Undated | None,
    **chosen: Any,
) -> Reading:
    from graphveil.records import ReadingOptions

    options = ReadingOptions(
        where=tuple(where or ()),
        group=tuple(group or ()),
        undated=None if undated is None else undated.value,
        most_bytes=most_bytes(limit),
        **chosen,
    )
    return Reading(format_, options)
