"""The command line. Heavy libraries are imported inside commands, so that help is instant."""

from __future__ import annotations

import sys

import typer

from graphveil.cli import (
    audit,
    count,
    datasets,
    demo,
    generate,
    plan,
    reproduce,
    sensitivity,
    statistics,
)
from graphveil.errors import (
    BoundError,
    CountOverflowError,
    GraphveilError,
    InputError,
    ParameterError,
)

EXIT_CODES: dict[type[GraphveilError], int] = {
    ParameterError: 2,
    InputError: 3,
    BoundError: 4,
    CountOverflowError: 5,
}

app = typer.Typer(
    name="graphveil",
    help="Statistics of a growing network of people under node differential privacy.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo.demo)
app.command()(statistics.statistics)
app.command()(sensitivity.sensitivity)
app.command()(count.count)
app.command()(plan.plan)
app.command()(audit.audit)
app.command()(datasets.datasets)
app.command()(generate.generate)
app.command()(reproduce.reproduce)


def main() -> None:
    """Run a command; turn a refusal into one plain message and its exit code."""
    try:
        app(prog_name="graphveil")
    except GraphveilError as error:
        print(f"graphveil: {error}", file=sys.stderr)
        code = next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
        sys.exit(code)
