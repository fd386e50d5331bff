"""The options of statistics: every parameter that one of them has, as it describes itself."""

from __future__ import annotations

from functools import cached_property
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from graphveil.cli.verb import Verb

_GIVEN = "graphveil.parameters"


def taking_parameters(before: str) -> type[Verb]:
    """A kind of command that takes a statistic; its options stand before the one named."""
    return type("StatisticCommand", (_StatisticCommand,), {"before": before})


def given_parameters(context: typer.Context) -> dict[str, str]:
    """The parameters that the user gave, as they were typed."""
    given: dict[str, str] = context.meta[_GIVEN]
    return given


class _StatisticCommand(Verb):
    """Statistics are looked up only when such a command is called, so that help stays instant."""

    before: str

    @cached_property
    def _options(self) -> list[Any]:
        taken = {flag for each in self.params for flag in each.opts}
        return _made_options(taken)

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, and those of statistics among them."""
        own = super().get_params(ctx)
        place = [each.name for each in own].index(self.before)
        return [*own[:place], *self._options, *own[place:]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Separate the statistic's options from the command's own."""
        rest = super().parse_args(ctx, args)
        told = {each.name: ctx.params.pop(each.name) for each in self._options}
        ctx.meta[_GIVEN] = {name: text for name, text in told.items() if text is not None}
        return rest


def _made_options(taken: set[str]) -> list[Any]:
    """Options as typer makes them of a function's signature; flags of the command are its own."""
    from graphveil.statistics.statistic import known_parameters

    def asked() -> None:
        """Stand for the signature; never called."""

    asked.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(
                each.name,
                Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    str | None,
                    typer.Option(
                        *(flag for flag in each.flags if flag not in taken),
                        metavar=each.metavar,
                        help=each.help,
                    ),
                ],
            )
            for each in known_parameters().values()
        ]
    )
    holder = typer.Typer(add_completion=False)
    holder.command()(asked)
    return list(typer.main.get_command(holder).params)
