"""`graphveil serve`: a local page for the steward, which does what the commands do."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from graphveil.cli.options import Json, Limit, most_bytes
from graphveil.cli.output import print_note
from graphveil.errors import ParameterError, StudyError, installing

MISSING = f"the page needs a few more libraries. Install them: {installing('web')}"


def serve(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A study, or a folder of studies, where new ones are begun."
        ),
    ] = Path(),
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes a free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Show the address, but open no browser.")
    ] = False,
    address: Annotated[
        str,
        typer.Option("--address", metavar="HOST", help="Elsewhere than here; needs a password."),
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option("--password-file", metavar="FILE", help="Its first line is the password."),
    ] = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Serve a page on this machine: begin a study, add records, publish, verify.

    The first line is the address, with a token that is good once: whenever it was used, the next
    one is shown. Ctrl-C stops it; what was begun is finished first.

    Example: graphveil serve

    Example: graphveil serve my-study --port 8000 --no-open
    """
    try:
        from graphveil.web.server import ServeOptions, Server, opening
    except ImportError as error:
        raise StudyError(MISSING) from error
    home, first = _places(folder)
    options = ServeOptions(home, first, port, address, _password(password_file))
    if limit is not None:
        options = replace(options, most_bytes=most_bytes(limit) or options.most_bytes)
    server = Server(options, _tell_json if as_json else _tell)
    with nullcontext() if no_open else opening(server.address), suppress(KeyboardInterrupt):
        server.run()
    if server.site.work.is_busy:
        print_note("Finishing what was begun; Ctrl-C again leaves at once.")
        server.site.work.wait()
    if not as_json:
        print("Stopped.")


def _tell(address: str) -> None:
    print(address, flush=True)


def _tell_json(address: str) -> None:
    print(json.dumps({"address": address}), flush=True)


def _places(folder: Path) -> tuple[Path, str]:
    """Where new studies are begun, and the page to show first."""
    from graphveil.steward.custody import opened
    from graphveil.study.folder import Folder

    place = folder.resolve()
    if Folder(place).study_file.is_file():
        return place.parent, f"/study/{opened(place).key}/"
    if not place.is_dir():
        raise ParameterError("folder", f"'{folder}' is not there", hint="Make it, or name another.")
    return place, "/"


def _password(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise ParameterError("password-file", "cannot be read") from error
