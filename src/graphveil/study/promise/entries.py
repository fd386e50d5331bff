"""Entries: the kinds of values that a study file has, each with what it accepts."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidatorFunctionWrapHandler,
)

from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import (
    HIGHEST_LEVEL,
    as_text,
    exact,
    exact_delta,
    exact_epsilon,
    exact_share,
)


class Part(BaseModel):
    """A table of the file: it never changes, and entries that nobody knows are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _epsilon(value: object) -> str:
    return as_text(exact_epsilon(value))  # type: ignore[arg-type]


def _delta(value: object) -> str:
    return as_text(exact_delta(value))  # type: ignore[arg-type]


def _pool_share(value: object) -> str:
    return as_text(exact_share(value))  # type: ignore[arg-type]


def _level(value: object) -> str:
    level = exact("the level", value)  # type: ignore[arg-type]
    if not 0 < level <= HIGHEST_LEVEL:
        raise ValueError("must be above 0 and at most 0.999999")
    return as_text(level)


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value):
        raise ValueError("must consist of lower-case letters, digits and single hyphens")
    return value


def _objective(value: str) -> str:
    from graphveil.factorisations.objectives import objective

    return str(objective(value))


Epsilon = Annotated[str, BeforeValidator(_epsilon)]
PoolShare = Annotated[str, BeforeValidator(_pool_share)]
Delta = Annotated[str, BeforeValidator(_delta)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, AfterValidator(_name)]
Objective = Annotated[str, AfterValidator(_objective)]
Level = Annotated[str, BeforeValidator(_level)]


def located(value: object, validated: ValidatorFunctionWrapHandler) -> Any:
    """Report a refused parameter with the entry in which it stands."""
    try:
        return validated(value)
    except ParameterError as error:
        raise ValueError(str(error)) from error
