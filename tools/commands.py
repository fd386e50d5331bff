"""Runs a command as the user's shell would, but within this process, which is faster."""

from __future__ import annotations

import io
import os
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from graphveil.cli import main

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Finished:
    """What a command printed, and the code it ended with."""

    code: int
    out: str
    err: str


def graphveil(*arguments: str, folder: Path = ROOT) -> Finished:
    """Run ``graphveil ARGUMENTS`` in a folder: the repository's, unless another is given."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    here = Path.cwd()
    os.chdir(folder)
    try:
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            mock.patch.object(sys, "argv", ["graphveil", *arguments]),
            mock.patch.dict(os.environ, {"COLUMNS": "80"}),
        ):
            main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    finally:
        os.chdir(here)
    return Finished(code, out.getvalue(), err.getvalue())


def run_line(line: str, folder: Path = ROOT) -> Finished:
    """Run a command line as it stands in a document, where a long one is broken by backslashes."""
    program, *arguments = shlex.split(line.replace("\\\n", " "))
    assert program == "graphveil", f"documents show graphveil commands only, not {program}"
    return graphveil(*arguments, folder=folder)
