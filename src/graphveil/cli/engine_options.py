"""Where counting runs: options of every command that counts. They concern this machine alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.steward.engine_choice import EngineChoice


class EngineName(StrEnum):
    """Where counting runs."""

    LOCAL = "local"
    SPARK = "spark"


Engine = Annotated[
    EngineName,
    typer.Option("--engine", help="Where counting runs; spark for what fits no machine."),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Of Spark: local[4], spark://…, k8s://…, yarn."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark. May be repeated."),
]


def chosen(engine: EngineName, master: str | None, conf: list[str] | None) -> EngineChoice:
    """What the options say about where counting runs."""
    from graphveil.steward.engine_choice import EngineChoice

    return EngineChoice(engine is EngineName.SPARK, master, settings_of(engine, master, conf))


def settings_of(engine: EngineName, master: str | None, conf: list[str] | None) -> dict[str, str]:
    """The settings of Spark; refuses them where it is not asked for."""
    if engine is not EngineName.SPARK and (master or conf):
        raise ParameterError("--master, --conf", "are for Spark", hint="Add --engine spark.")
    found = {}
    for each in conf or []:
        key, separator, value = each.partition("=")
        if not separator or not key.strip():
            raise ParameterError("--conf", "must be KEY=VALUE, such as spark.executor.memory=4g")
        found[key.strip()] = value.strip()
    return found
