"""`graphveil hand-over`: a study moves to another machine, and keeps its noise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphveil.errors import ParameterError


def hand_over(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The folder of the study.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="CODE", help="The machine that may go on with the study."),
    ] = None,
) -> None:
    """Let another machine go on with a study, and this one never again.

    Without a folder, shows the code of this machine. So: show the code on the new machine, hand
    the study over on the old one, and then copy its folder.

    Example: graphveil hand-over my-study --to 0123456789abcdef
    """
    from graphveil.steward import moving

    if folder is None and to is None:
        print(f"This machine: {moving.machine_code()}")
    elif folder is None or to is None:
        raise ParameterError(
            "to",
            "a folder and the code of a machine belong together",
            hint="Run `graphveil hand-over` without both on the new machine: it shows its code.",
        )
    else:
        moving.hand_over(folder, to)
        print(f"Handed over to {to}: this machine will not go on with the study.")
        print("Copy its whole folder there now; the first command that is run there takes it.")
