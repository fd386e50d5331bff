"""The command line. Heavy libraries are imported inside commands, so that help is instant."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from graphveil import __version__
from graphveil.cli.commands import (
    add,
    adopt,
    audit,
    count,
    datasets,
    demo,
    extend,
    formats,
    generate,
    hand_over,
    new,
    plan,
    promise,
    publish,
    releases,
    report,
    reproduce,
    sensitivity,
    series,
    serve,
    statistics,
    status,
    verify,
)
from graphveil.cli.ending import endings
from graphveil.cli.statistic_options import taking_parameters
from graphveil.cli.terminal import text_only
from graphveil.cli.verb import Verb

# A command lives for seconds and needs nearly all that it makes until it ends. To look for
# what it no longer needs after every few hundred things takes a fifth of the time of a long study.
MADE_BETWEEN_COLLECTIONS = 100_000


def _print_version(asked: bool) -> None:
    if asked:
        print(f"graphveil {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="graphveil",
    help="Statistics of a growing network of people under node differential privacy.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Hold the options that need no command."""


# First the steward's work, in its order.
app.command(cls=Verb)(demo.demo)
app.command(cls=Verb)(new.new)
app.command(cls=taking_parameters(before="degree"))(plan.plan)
app.command(cls=Verb)(promise.promise)
app.command(cls=Verb)(add.add)
app.command(cls=Verb)(publish.publish)
app.command(cls=Verb)(status.status)
app.command(cls=Verb)(releases.releases)
app.command(cls=taking_parameters(before="mechanism"))(series.series)
app.command(cls=Verb)(report.report)
app.command(cls=Verb)(verify.verify)
app.command(cls=Verb)(extend.extend)
app.command("hand-over", cls=Verb)(hand_over.hand_over)
app.command(cls=Verb)(adopt.adopt)
app.command(cls=Verb)(serve.serve)
app.command(cls=Verb)(formats.formats)
app.command(cls=Verb)(statistics.statistics)
app.command(cls=taking_parameters(before="degree"))(sensitivity.sensitivity)
app.command(cls=taking_parameters(before="directed"))(count.count)
app.command(cls=taking_parameters(before="degree"))(audit.audit)
app.command(cls=Verb)(datasets.datasets)
app.command(cls=Verb)(generate.generate)
app.command(cls=Verb)(reproduce.reproduce)


def main() -> None:
    """Run a command; whatever stops it becomes one plain message and an exit code."""
    gc.set_threshold(MADE_BETWEEN_COLLECTIONS)
    with text_only(), endings():
        app(prog_name="graphveil")
