"""The command line. Heavy libraries are imported inside commands, so that help is instant."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from graphveil import __version__
from graphveil.cli.ending import endings
from graphveil.cli.options import taking_parameters
from graphveil.cli.output import Verb, text_only

# A command lives for seconds and needs nearly all that it makes until it ends. To look for
# what it no longer needs after every few hundred things takes a fifth of the time of a long study.
MADE_BETWEEN_COLLECTIONS = 1_000_000

# First the steward's work, in its order.
VERBS = (
    *("demo", "new", "plan", "rehearse", "memo", "promise", "add", "publish", "status"),
    *("releases", "series", "report", "verify", "extend", "hand-over", "adopt", "serve"),
    *("formats", "statistics", "sensitivity", "count", "audit", "datasets", "generate"),
    "reproduce",
)
# Where verbs are that share a module with their kin; each other one has a module of its name.
KIN = {
    "experiments": ("datasets", "generate", "reproduce"),
    "going_on": ("series", "extend", "hand-over", "adopt"),
    "listings": ("formats", "statistics", "sensitivity"),
    "measuring": ("count", "audit"),
    "reports": ("memo", "report", "releases"),
    "state": ("status", "verify"),
    "steps": ("add", "publish"),
    "trials": ("promise", "rehearse"),
}
_MODULES = {verb: module for module, verbs in KIN.items() for verb in verbs}
# Those that take a statistic, and before which of their options its own ones stand.
STATISTIC_BEFORE = {"plan": "degree", "series": "mechanism", "sensitivity": "degree"}
STATISTIC_BEFORE |= {"count": "directed", "audit": "degree"}


def _print_version(asked: bool) -> None:
    if asked:
        print(f"graphveil {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Hold the options that need no command."""


def program(*verbs: str) -> typer.Typer:
    """The command line with some verbs; with all of them, if none is named."""
    made = typer.Typer(
        name="graphveil",
        help="Statistics of a growing network of people under node differential privacy.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback()(_program)
    for verb in verbs or VERBS:
        module = import_module(f"graphveil.cli.commands.{_MODULES.get(verb, verb)}")
        command, place = getattr(module, verb.replace("-", "_")), STATISTIC_BEFORE.get(verb)
        made.command(verb, cls=Verb if place is None else taking_parameters(place))(command)
    return made


def main() -> None:
    """Run a command; whatever stops it becomes one plain message and an exit code."""
    gc.set_threshold(MADE_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)  # else ending would look through all of it once more
    # No plugin of somebody else is to see what is read here, nor has to be looked for.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # NumPy's matrices here are small; to start more threads takes as long as to load it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    asked = (verb for verb in sys.argv[1:2] if verb in VERBS)  # the others take time, too
    with text_only(), endings():
        program(*asked)(prog_name="graphveil")
