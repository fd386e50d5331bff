"""The promised bound: how many links a person has at most, as a study file says it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from graphveil.errors import ParameterError
from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound
from graphveil.graph.promises.hub_bound import HubBound
from graphveil.study.promise.entries import Part, Text

NO_BOUND: Final = "none"  # as a study file says it


def _numbers(given: object) -> object:
    """One number may stand without brackets."""
    return (given,) if isinstance(given, int) else given


def _told_numbers(numbers: tuple[int, ...] | None) -> int | list[int] | None:
    """One number stands without brackets."""
    if numbers is None:
        return None
    return numbers[0] if len(numbers) == 1 else list(numbers)


class PromisedBound(Part):
    """How many links a person has at most, and why the public may believe it.

    With `hubs` the limits hold for nearly everybody: who has more is a hub, and nobody is linked to
    more hubs than that (one number, or two for in- and out-hubs; see `graph.hub_bound.HubBound`).

    Where somebody breaks the promise, a study goes on ("continue": only first links are counted,
    and who keeps the promise is protected by it, whatever others do) or publishes nothing more
    ("refuse"). Files from before there was a choice do not say it, and mean that they refuse.
    """

    degree: int | None = Field(default=None, ge=1)
    inward: int | None = Field(default=None, ge=1)
    outward: int | None = Field(default=None, ge=1)
    oriented: bool = False
    hubs: Annotated[
        tuple[int, ...] | None, BeforeValidator(_numbers), PlainSerializer(_told_numbers)
    ] = None
    if_broken: Literal["continue", "refuse"] | None = None
    justification: Text

    @model_validator(mode="after")
    def _one_kind(self) -> PromisedBound:
        both = self.inward is not None and self.outward is not None
        neither = self.inward is None and self.outward is None
        if not (
            (self.degree is not None and neither and not self.oriented)
            or (self.degree is None and both)
        ):
            raise ValueError("give either 'degree', or 'inward' and 'outward'")
        if self.hubs is not None and not any(self.hubs):
            raise ValueError("hubs: 0 is the degree bound without hubs. Leave it out")
        try:
            self.limits()
        except ParameterError as error:
            raise ValueError(str(error)) from error
        return self

    def limits(self) -> Bound:
        """The bound as the statistics take it."""
        within: DegreeBound | InOutBound
        if self.degree is not None:
            within = DegreeBound(self.degree)
        else:
            within = InOutBound(self.inward or 0, self.outward or 0, self.oriented)
        if self.if_broken == "continue":
            return HubBound(within, self.hubs or (0,) * len(within.limits), checked=False)
        return within if self.hubs is None else HubBound(within, self.hubs)


def stated_bound(given: object) -> object:
    """That nothing is promised has to be said: a bound that was forgotten is refused."""
    if given == NO_BOUND:
        return None
    if given is None or isinstance(given, str):
        raise ValueError(f'must be a table [bound], or bound = "{NO_BOUND}" to promise nothing')
    return given
