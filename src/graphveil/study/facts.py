"""Public facts: the content of the rows of the public chain, typed once for writers and readers."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PlainSerializer, ValidationError

from graphveil import __version__
from graphveil.errors import IntegrityError
from graphveil.graph.thresholds import FOLLOW
from graphveil.mechanisms.planning.usefulness import Judgement
from graphveil.noise.exact_numbers import as_text
from graphveil.study.promise_entries import COMMITTED, RatioPromise, SeriesPromise

if TYPE_CHECKING:
    from graphveil.mechanisms.following import Answer
    from graphveil.statistics.breakdown import Breakdown

AFTER_PROJECTION = "after-projection"  # the heading of what is proved for every network
FORESTS = "forests"  # the same for what is counted by forests
FOLLOWING = "following"  # the same where thresholds follow, in parts of them
EVERY_NETWORK = "nothing: it holds for every network"
DIGITS = 6  # of processed values and standard deviations, which are not whole numbers

LEVELS = "levels"  # the parameter of a degree CCDF that says which degrees it has
LARGEST = 10**300  # that becomes a number of a chart; no release comes near it

Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
ExactText = Annotated[Fraction, PlainSerializer(as_text)]
FactType = TypeVar("FactType", bound="Fact")


class Event(StrEnum):
    """What can happen to a study."""

    STUDY_OPENED = "study opened"
    SERIES_OPENED = "series opened"
    RECORDS_ADDED = "records added"
    RECORDS_WITHDRAWN = "records withdrawn"
    STEP_SEALED = "step sealed"
    RELEASE_MADE = "release made"
    REFUSAL = "refusal"
    STUDY_ADOPTED = "study adopted"
    STUDY_HANDED_OVER = "study handed over"
    STUDY_EXTENDED = "study extended"
    RATIO_PROMISED = "ratio promised"


class Announcement(NamedTuple):
    """A published row, of either chain.

    Attributes:
        place: its position, for messages.
        event: what kind of thing happened.
        fact: what happened, as it was written: plain data, or their JSON, which is quicker to read.
        at: when, in UTC.
    """

    place: str
    event: str
    fact: dict[str, Any] | str
    at: str

    def require(self, held: bool, problem: str) -> None:
        """Refuse a row that does not fit its position."""
        if not held:
            raise IntegrityError(f"{self.place}: {problem}.")


class Fact(BaseModel):
    """What happened; parts that a newer version adds are ignored by an older one."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
    event: ClassVar[Event]

    def to_data(self) -> dict[str, Any]:
        """Plain data, as it is written into the chain."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def read(cls: type[FactType], row: Announcement) -> FactType:
        """The fact of a row, with every part of the right type."""
        try:
            if isinstance(row.fact, str):
                return cls.model_validate_json(row.fact, context=COMMITTED)
            return cls.model_validate(row.fact, context=COMMITTED)
        except ValidationError as error:
            flaw = error.errors()[0]
            part = ".".join(str(each) for each in flaw["loc"])
            where = f"'{part}' " if part else ""
            problem = f"{where}cannot be read: {flaw['msg']}"
            raise IntegrityError(f"{row.place}: {problem}.") from error


class Software(Fact):
    """Which versions were at work: graphveil, and the library that draws the noise."""

    software: str
    noise: str

    @staticmethod
    def now() -> dict[str, str]:
        """The versions of this process."""
        return {"software": f"graphveil {__version__}", "noise": f"OpenDP {version('opendp')}"}

    def __str__(self) -> str:
        return f"{self.software}, noise by {self.noise}"


class StudyOpened(Software):
    """The promise as it was first made."""

    event = Event.STUDY_OPENED
    study: dict[str, Any]


class StepSealed(Software):
    """A step that is published and will never change."""

    event = Event.STEP_SEALED
    step: int
    label: str


class SensitivityFact(Fact):
    """What one person can change, and what that rests on."""

    l1: int
    exact: bool
    assumption: str
    proof: str

    @property
    def of_one_release(self) -> bool:
        """Whether it speaks of each release by itself, on every network."""
        return self.proof.endswith((f"#{AFTER_PROJECTION}", f"#{FORESTS}"))

    @property
    def in_thresholds(self) -> bool:
        """Whether it speaks of parts of the threshold that each release states."""
        return self.proof.endswith(f"#{FOLLOWING}")


class LossFact(Fact):
    """What a person loses at most who is linked to so many hubs more than were promised.

    Attributes:
        further: hubs.
        epsilon: by this series alone.
        rho: the same in zCDP, for a series that shares a pool: these add up; None for others.
    """

    further: int
    epsilon: ExactText
    rho: ExactText | None = None


class NoiseFact(Fact):
    """The law of the noise over some steps, given by its scale or by its variance."""

    law: str
    steps: int
    scale: str | None = None
    variance: str | None = None

    @property
    def size(self) -> tuple[str, str]:
        """The name of the parameter that fixes its size, and the value, exact."""
        return (
            ("scale", self.scale) if self.scale is not None else ("variance", self.variance or "0")
        )


def _called(key: str, name: str) -> Any:
    """A field that has another name in the chain, where names stay as they are."""
    return Field(validation_alias=AliasChoices(key, name), serialization_alias=key)


def _losses_as_data(losses: tuple[LossFact, ...]) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json", exclude_none=True) for each in losses]


def _noise_as_data(noise: tuple[NoiseFact, ...]) -> list[dict[str, Any]]:
    return [each.model_dump(exclude_none=True) for each in noise]


def _promise_as_data(series: SeriesPromise) -> dict[str, Any]:
    return series.model_dump(mode="json", exclude_none=True)


Losses = Annotated[tuple[LossFact, ...], PlainSerializer(_losses_as_data)]


_LATER = ("spans", "plan", "defined_by", "cumulative")  # than the first version


class SeriesOpened(Fact):
    """A series as it was opened, before its first release.

    Attributes:
        series: its name.
        promise: what the study file says about it.
        summary: what is counted.
        epsilon: what its whole life costs; of a series in a pool, what the pool costs.
        delta: likewise.
        projection: the thresholds to which graphs are projected, or "forest:C" for forests; None if
            all is counted as it is.
        width: how many numbers a release has: 1, or one per degree from 0 on.
        predicted_std: the noise that was announced, release by release.
        beyond: what breaking the promise costs the person who breaks it; empty where the series
            does not depend on a promise, or where records that break it are refused.
        spans: parameters that are numbers of steps, in words, such as "the last 3 years".
        plan: how it is published, as it is stored: public parameters alone, from which follows how
            the joint law of the noise of all releases. Older versions did not publish it.
        defined_by: the packages that define its statistic or its mechanism, where these are not
            of graphveil, with their versions: the proofs are theirs.
        cumulative: whether its numbers never rise with the degree; said only of such a statistic.
    """

    event = Event.SERIES_OPENED
    series: str
    promise: Annotated[SeriesPromise, PlainSerializer(_promise_as_data)]
    statistic: str
    parameters: dict[str, int | str]
    summary: str
    epsilon: ExactText
    delta: ExactText | None
    mechanism: str
    mechanism_summary: str
    projection: int | tuple[int, ...] | str | None
    horizon: int | None
    first_step: int
    first_label: str
    width: int = _called("numbers", "width")
    sensitivity: SensitivityFact
    noise: Annotated[tuple[NoiseFact, ...], PlainSerializer(_noise_as_data)]
    predicted_std: tuple[float, ...]
    monotone: bool
    beyond: Losses = ()
    spans: dict[str, str] = {}
    plan: dict[str, Any] | None = None
    defined_by: dict[str, str] = {}
    cumulative: bool = False

    def to_data(self) -> dict[str, Any]:
        """Plain data; what older versions did not know is left out where there is nothing of it."""
        data = super().to_data()
        return {key: data[key] for key in data if data[key] or key not in _LATER}

    @property
    def judgement(self) -> Judgement | None:
        """The noise of the last release beside the size that the publisher expects, if any."""
        size = self.promise.judged_size
        return None if size is None else Judgement(self.predicted_std[-1], size)

    @property
    def follows(self) -> bool:
        """Whether its threshold follows what was published, so that each release states its own."""
        return isinstance(self.projection, str) and self.projection.startswith(FOLLOW)

    @property
    def vector(self) -> bool:
        """Whether a release has one number per degree."""
        return self.width > 1

    @property
    def degrees(self) -> tuple[int, ...]:
        """Which degree each number of an undivided vector is about: all from 0 on, or some."""
        texts = str(self.parameters.get(LEVELS, "")).split(",")
        stated = tuple(int(each) for each in texts if each.strip().isdecimal())
        return stated if len(stated) == self.width else tuple(range(self.width))

    def degree_at(self, place: int) -> int | None:
        """The degree that a number is about; None if it is about none."""
        return self.places[place][1]

    @property
    def breakdown(self) -> Breakdown | None:
        """How its numbers are divided by groups; None if they are not."""
        return self.promise.breakdown()

    @cached_property
    def places(self) -> list[tuple[dict[str, str], int | None]]:
        """What each number of a release is about: its cell by group, and its degree."""
        divided = self.breakdown
        if divided is not None:
            return divided.places(self.width)
        return [({}, degree if self.vector else None) for degree in self.degrees]

    @property
    def pool_share(self) -> Fraction | None:
        """Its share of the pool; None if its ε is its own."""
        return None if self.promise.pool is None else Fraction(self.promise.pool)

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """ε and δ that its whole life takes out of the budget; the pool is paid by itself."""
        if self.promise.pool is not None:
            return Fraction(), Fraction()
        return self.epsilon, Fraction(self.promise.delta or 0)


class RenewedSeries(Fact):
    """The noise that a series will have from an adoption on.

    Attributes:
        series: its name.
        noise: its laws, of what is known in advance.
        predicted_std: release by release.
        again: the ε that everybody could lose once more by another copy that went on as well; 0 for
            a series in a pool, whose ε is stated once for all of them.
        price: what the fresh noise costs, out of what was left of the budget.
        beyond: what it costs from then on to break the promise; nothing where that has not changed.
        plan: of all its releases, those before included; as in `SeriesOpened`.
    """

    series: str
    noise: Annotated[tuple[NoiseFact, ...], PlainSerializer(_noise_as_data)]
    predicted_std: tuple[float, ...]
    again: ExactText
    price: ExactText = Fraction()
    beyond: Losses = ()
    plan: dict[str, Any] | None = None


class StudyAdopted(Software):
    """A copy that goes on by itself, with fresh noise for everything that is still to come.

    Attributes:
        step: how many steps were published before.
        label: the last of them; None if there was none.
        reason: why, in the words of the publisher.
        series: all that are open, in order.
        pool_again: the ε that everybody could lose once more by all series of the pool together.
    """

    event = Event.STUDY_ADOPTED
    step: int
    label: str | None
    reason: str
    series: tuple[RenewedSeries, ...]
    pool_again: ExactText = Fraction()

    def to_data(self) -> dict[str, Any]:
        """Plain data; a study without a pool says nothing of it."""
        data = super().to_data()
        return data if self.pool_again else {k: v for k, v in data.items() if k != "pool_again"}

    @property
    def again(self) -> Fraction:
        """The ε that everybody could lose once more, by all series together."""
        return sum((each.again for each in self.series), self.pool_again)

    @property
    def price(self) -> Fraction:
        """What fresh noise has cost, for all series together."""
        return sum((each.price for each in self.series), Fraction())


class ExtendedSeries(Fact):
    """What a series will be like from an extension on.

    Attributes:
        series: its name.
        price: what its further releases cost, out of what was left of the budget.
        horizon: how many releases it has then, in all.
        noise: its laws, of what was not published before.
        predicted_std: release by release.
        beyond: what it costs from then on to break the promise; nothing where that has not changed.
        plan: of all its releases, those before included; as in `SeriesOpened`.
    """

    series: str
    price: ExactText
    horizon: int
    noise: Annotated[tuple[NoiseFact, ...], PlainSerializer(_noise_as_data)]
    predicted_std: tuple[float, ...]
    beyond: Losses = ()
    plan: dict[str, Any] | None = None


class StudyExtended(Software):
    """A study that goes on past the last step that it was planned for.

    Attributes:
        step: how many steps were published before.
        label: the last of them; None if there was none.
        end: the step that was to be the last.
        last: the step that is the last now.
        calendar: as the study file states it now.
        series: those that get more releases.
    """

    event = Event.STUDY_EXTENDED
    step: int
    label: str | None
    end: str
    last: str
    calendar: dict[str, Any]
    series: tuple[ExtendedSeries, ...]

    @property
    def price(self) -> Fraction:
        """What all further releases cost."""
        return sum((each.price for each in self.series), Fraction())


class RatioPromised(Software):
    """A ratio that was promised while the study went on; it is published of all steps.

    Attributes:
        step: how many steps were published before.
        label: the last of them; None if there was none.
        ratio: as the study file states it.
    """

    event = Event.RATIO_PROMISED
    step: int
    label: str | None
    ratio: RatioPromise


class ChangeFact(Fact):
    """How far noise can reach in a change of a series that ends at a release.

    Attributes:
        over: how many steps are taken together.
        against: whether what is new in them is compared with as many steps before.
        std: the standard deviation of the noise.
        width: the noise is at most this, with the probability of the release's interval.
    """

    over: int = Field(ge=1)
    against: bool
    std: float
    width: Whole


class AnswerFact(Fact):
    """The answer to one question of a series whose threshold follows.

    Attributes:
        threshold: how many links of each person were counted at most.
        scaled: the count with its noise, in parts of the threshold; exact.
        parts: into how many a threshold is divided: the answer is scaled·threshold/parts.
    """

    threshold: int = Field(ge=1)
    scaled: Whole
    parts: int = Field(ge=1)

    @property
    def exactly(self) -> Answer:
        """As the rule takes it."""
        from graphveil.mechanisms.following import Answer

        return Answer(self.threshold, self.scaled)


class ReleaseMade(Fact):
    """One release of a series; every list has one entry per number of the series.

    Attributes:
        changes: how sure one can be of what is new; none in rows of older versions.
        answers: where thresholds follow, the answers to the questions of the release, in order; the
            last of them, rounded, is the raw value.
    """

    event = Event.RELEASE_MADE
    series: str
    step: int
    label: str
    raw: tuple[Whole, ...]
    processed: tuple[float, ...]
    processing: str
    noise_std: float = _called("std", "noise_std")
    level: str
    low: tuple[Whole, ...]
    high: tuple[Whole, ...]
    changes: tuple[ChangeFact, ...] = ()
    answers: tuple[AnswerFact, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Plain data; a release at one threshold says nothing of answers."""
        data = super().to_data()
        return data if self.answers else {k: v for k, v in data.items() if k != "answers"}

    @property
    def asked(self) -> tuple[Answer, ...]:
        """The answers as the rule takes them."""
        return tuple(each.exactly for each in self.answers)

    @property
    def threshold(self) -> int | None:
        """How many links of each person were counted at most; None where that does not vary."""
        return self.answers[-1].threshold if self.answers else None

    def has_numbers(self, width: int) -> bool:
        """Whether each of its lists has so many."""
        lists = len(self.raw), len(self.processed), len(self.low), len(self.high)
        return lists == (width,) * len(lists)
