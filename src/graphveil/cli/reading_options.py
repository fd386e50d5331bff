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


def _column(flag: str, text: str) -> Any:
    return Annotated[str | None, typer.Option(flag, metavar="COLUMN", help=text)]


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format_": (
        Annotated[
            str | None,
            typer.Option(
                "--format", metavar="NAME", help="Of all files, else detected."
            ),
        ],
        None,
    ),
    "id": (_column("--id", "Column that names a person."), None),
    "source": (_column("--source", "Column that names one end of a link."), None),
    "target": (_column("--target", "Column that names the other end."), None),
    "time": (
        Annotated[
            str | None,
            typer.Option(
                "--time",
                metavar="FIELD",
                help="Column or field with a node's date; of A,B the first that is filled in.",
            ),
        ],
        None,
    ),
    "time_from_id": (
        Annotated[
            str | None,
            typer.Option(
                "--time-from-id",
                metavar="MARK+N",
                help="The date is field N of a node's id, such as '|2' or, the last, '|-1'.",
            ),
        ],
        None,
    ),
    "edge_time": (
        Annotated[
            str | None,
            typer.Option(
                "--edge-time", metavar="FIELD", help="Column or field with an edge's date."
            ),
        ],
        None,
    ),
    "distance": (_column("--distance", "Column with distances; none: every row is a link."), None),
    "max_distance": (
        Annotated[
            str | None,
            typer.Option(
                "--max-distance",
                metavar="D",
                help="Pairs up to this distance are links, such as 0.015 or '12 snps'.",
            ),
        ],
        None,
    ),
    "where": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--where",
                metavar="COLUMN=VALUE",
                help="Only such records count, also with !=, <, <=, >, >=. May be repeated.",
            ),
        ],
        None,
    ),
    "group": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--group",
                metavar="NAME=COLUMN",
                help="Column with people's labels in a group of the study. May be repeated.",
            ),
        ],
        None,
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
    "encoding": (
        Annotated[
            str | None,
            typer.Option("--encoding", metavar="NAME", help="Of text, such as windows-1252."),
        ],
        None,
    ),
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
