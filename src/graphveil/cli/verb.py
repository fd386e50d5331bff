"""What every command takes besides its own options: `--quiet`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

_ASKED = "graphveil.quiet"
_QUIET: ContextVar[bool] = ContextVar(_ASKED, default=False)
_FOR_PROGRAMS = ("as_json", "as_csv")  # what these ask for is printed all the same


class Verb(TyperCommand):
    """A command with an option to print nothing unless something is wrong."""

    @cached_property
    def _quiet(self) -> Any:
        return _made_option()

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, and before the last, which is help, `--quiet`."""
        *own, about_help = super().get_params(ctx)
        return [*own, self._quiet, about_help]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store whether it was given, for the functions that print."""
        rest = super().parse_args(ctx, args)
        ctx.meta[_ASKED] = ctx.params.pop("quiet")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it would print for people is dropped if --quiet is given."""
        asked = bool(ctx.meta[_ASKED])
        wanted = any(ctx.params.get(name) for name in _FOR_PROGRAMS)
        before = _QUIET.set(asked)
        try:
            with _silence() if asked and not wanted else nullcontext():
                return super().invoke(ctx)
        finally:
            _QUIET.reset(before)


def is_quiet() -> bool:
    """Whether the running command was asked to be quiet."""
    return _QUIET.get()


@contextmanager
def _silence() -> Iterator[None]:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield


def _made_option() -> Any:
    """The option, as typer makes it of a function's signature."""
    holder = typer.Typer(add_completion=False)

    @holder.command()
    def asked(
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Print warnings, questions and errors only.")
        ] = False,
    ) -> None:
        """Stand for the signature; never called."""

    return typer.main.get_command(holder).params[0]
