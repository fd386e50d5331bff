"""`graphveil hand-over`: a study moves to another machine, and keeps its noise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphveil.cli.options import Json
from graphveil.cli.output import print_json
from graphveil.errors import ParameterError


def hand_over(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The folder of the study.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="CODE", help="The machine that may go on with the study."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let another machine go on with a study, and this one never again.

    Without a folder, shows the code of this machine. So: show the code on the new machine, hand
    the study over on the old one, and then copy its folder.

    Example: graphveil hand-over my-study --to 0123456789abcdef
    """
    from graphveil.steward import custody

    if folder is None and to is None:
        code = custody.machine_code()
        _tell({"machine": code}, f"This machine: {code}", as_json=as_json)
    elif folder is None or to is None:
        raise ParameterError(
            "to",
            "a folder and the code of a machine belong together",
            hint="Run `graphveil hand-over` without both on the new machine: it shows its code.",
        )
    else:
        custody.hand_over(folder, to)
        message = (
            f"Handed over to {to}: this machine will not go on with the study.\n"
            "Copy its whole folder there now; the first command that is run there takes it."
        )
        _tell({"handed_over_to": to}, message, as_json=as_json)


def _tell(data: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(data)
    else:
        print(text)
