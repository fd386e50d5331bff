"""What was committed: the state of a study at one moment, read once and handed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Never, TypeAlias

from graphveil.errors import ParameterError, StudyError
from graphveil.hints import Hint
from graphveil.noise.exact_numbers import Exact, exact
from graphveil.study.facts import Event
from graphveil.study.folder import Folder
from graphveil.study.ledger import Ledger
from graphveil.study.public_part import (
    Head,
    PublicPart,
    PublishedText,
    published_text,
    require_agreeing_file,
    require_newest,
)
from graphveil.study.reading import Reading, StoredSeries
from graphveil.study.store import Store

if TYPE_CHECKING:
    from graphveil.study.promise import Promise


@dataclass(frozen=True)
class Committed:
    """The ledger and the series, and the public part as it was before they were read.

    Attributes:
        ledger: all that happened.
        stored_series: the stored plan and state of every series.
        public: the text of the public part.
    """

    ledger: Ledger
    stored_series: Mapping[str, StoredSeries] = field(repr=False)
    public: PublishedText

    @property
    def is_behind(self) -> bool:
        """Whether a step was sealed that the public part does not show yet."""
        shown = self.public.text.count("\n")
        published = [row.event for row in self.ledger.rows if row.public is not None]
        return Event.STEP_SEALED in published[shown:]


@dataclass(frozen=True)
class Announced:
    """What publishing came to.

    Attributes:
        steps: those that were sealed by it, in order.
        ledger: all that happened until then; private.
    """

    steps: list[int]
    ledger: Ledger = field(repr=False)

    def __str__(self) -> str:
        labels = [self.ledger.versions[-1].calendar.label(step) for step in self.steps]
        return f"Sealed: {', '.join(labels) or 'nothing new'}."

    @property
    def public_part(self) -> PublicPart:
        """The study as the public sees it now."""
        ledger, lines = self.ledger, self.ledger.public_lines
        head = Head(lines[-1].hash, len(lines), [row for row in ledger.rows if row.public][-1].at)
        return PublicPart(
            ledger.versions[-1], ledger.rows[0].at, ledger.history, head, ledger.series
        )


def read(folder: Folder, store: Store) -> Committed:
    """What was committed, once it agrees with the study file and with what was announced."""
    public = published_text(folder)
    with store.reading() as reading:
        return checked(reading, public)


def checked(reading: Reading, public: PublishedText) -> Committed:
    """What a reader sees; `public` was read before it."""
    ledger = reading.ledger()
    require_newest(public, ledger)
    require_agreeing_file(public, ledger)
    return Committed(ledger, reading.series(), public)


# Which steps of a study there are, and which of them are over by the clock.


def label_of(promise: Promise, step: int) -> str:
    """The public name of a step; refuses one after the end of the calendar."""
    last = promise.calendar.last_step
    if last is not None and step > last:
        raise StudyError(
            f"every step of the calendar up to {promise.calendar.label(last)} is sealed.",
            hint=Hint("extend"),
        )
    return promise.calendar.label(step)


def steps_ended(promise: Promise) -> int:
    """How many steps have ended by the clock; of a calendar without dates, all."""
    from graphveil.calendar.times import MOST_STEPS, Unit

    calendar = promise.calendar
    top = MOST_STEPS if calendar.last_step is None else calendar.last_step + 1
    if calendar.unit == Unit.NUMBER:
        return top
    return min(calendar.steps_before(datetime.now(UTC)), top)


Prices: TypeAlias = Mapping[str, Fraction]  # ε of some series, by name
NO_PRICES: Final[Mapping[str, Never]] = MappingProxyType({})


def exact_prices(prices: Mapping[str, Exact]) -> dict[str, Fraction]:
    """The price of each series as a fraction; refuses what is none, or negative."""
    found = {name: exact("price", text) for name, text in prices.items()}
    for name, price in found.items():
        if price < 0:
            raise ParameterError("price", f"of series '{name}' must not be negative")
    return found
