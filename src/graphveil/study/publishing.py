"""Publishing: the next steps are counted, sealed in one transaction, and only then announced.

`graphveil.series` computes a release; this module stores it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.calendar import phrases
from graphveil.errors import BoundError, IntegrityError
from graphveil.hints import Hint
from graphveil.mechanisms.following import Answer
from graphveil.mechanisms.planning.change import Change
from graphveil.mechanisms.planning.intervals import change_errors, half_widths
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series.counting import Differences, SeriesCounts, SeriesTerms, ThresholdCounts
from graphveil.series.postprocessing import Processing
from graphveil.series.release import MadeRelease, Release, has_same_past, make_release
from graphveil.series.state import SeriesState, Trail
from graphveil.study.backends import PreparedSteps, Stored
from graphveil.study.chain import canonical, digest
from graphveil.study.facts import (
    DIGITS,
    AnswerFact,
    ChangeFact,
    ReleaseMade,
    Software,
    StepSealed,
)
from graphveil.study.history import PublishedSeries
from graphveil.study.ledger import Ledger, LedgerRow
from graphveil.study.reading import StoredSeries, plan_of, state_of
from graphveil.study.sql import Transaction

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.study.backends import Backend
    from graphveil.study.promise import Promise


@dataclass(frozen=True, eq=False)
class Ongoing:
    """A series between two releases; a secret.

    Attributes:
        terms: what was fixed when it was opened.
        counted: its exact change at every step of the graph, or its totals at any threshold.
        state: after its last release.
        processing: of the values that it has published.
    """

    terms: SeriesTerms
    counted: Differences | ThresholdCounts = field(repr=False)
    state: SeriesState = field(repr=False)
    processing: Processing | Trail = field(repr=False)

    def require_fitting(self, name: str, step: int, newest: Sequence[Answer] = ()) -> None:
        """Refuse a state that does not belong to the sealed steps."""
        terms, state = self.terms, self.state
        if terms.first_step + state.step != step or not has_same_past(
            terms, state, self.counted, newest
        ):
            raise IntegrityError(
                f"series '{name}': the state in the ledger database does not belong to the sealed "
                "steps.",
                hint=Hint("verify"),
            )

    def widths(self, steps: range, level: str) -> Sequence[int]:
        """How far noise can reach at each of these steps; public.

        Where thresholds follow it is in parts of them, which are known only when they are chosen.
        """
        return half_widths(self.terms.plan, self._places(steps), level)

    def changes(
        self, steps: range, level: str, asked: Sequence[Change]
    ) -> Sequence[tuple[ChangeFact, ...]]:
        """How far noise can reach in what is new at each of these steps; public."""
        if self.terms.plan.request.recent:  # its values are no totals, so none of them adds up
            asked = [each for each in asked if each == Change()]
        if self.terms.follows:  # counts at two thresholds differ by more than what is new
            asked = []
        by_change = [
            change_errors(self.terms.plan, each, self._places(steps), Fraction(level))
            for each in asked
        ]
        return [
            tuple(
                ChangeFact(
                    over=change.over,
                    against=change.against,
                    std=round(error.std, DIGITS),
                    width=error.width,
                )
                for change, error in zip(asked, errors, strict=True)
                if error is not None
            )
            for errors in (zip(*by_change, strict=True) if asked else [()] * len(steps))
        ]

    def _places(self, steps: range) -> range:
        """Which releases of its own the steps are."""
        first = self.terms.first_step
        return range(steps.start - first, steps.stop - first)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything about the next steps that needs no noise and no lock; a secret.

    Attributes:
        last_hash: of the newest row that it was prepared from, or that was entered since.
        promise: of the study, which no sealing changes.
        breaks_at: the first of the steps that were asked for at which the promised bound is
            broken, if there is one.
        series: every open one, by name; none where the bound is broken.
        counted: the sealed graph with all these steps; None where the bound is broken.
    """

    last_hash: str
    promise: Promise
    breaks_at: int | None = field(repr=False)
    series: Mapping[str, Ongoing] = field(default_factory=dict)
    counted: PreparedSteps | None = field(default=None, repr=False)


def prepare(
    stored: Stored, stored_series: Mapping[str, StoredSeries], through: int, backend: Backend
) -> Prepared:
    """Let the waiting records arrive in the sealed graph, and count every series."""
    ledger, promise = stored.ledger, stored.promise
    made, last = len(ledger.sealed), ledger.rows[-1].hash
    grown = backend.grown(stored, through)
    terms = terms_of(ledger, stored_series)
    if promise.degree_bound.checked and not all(each.projects for each in terms.values()):
        breaks_at = grown.first_break(promise.degree_bound, made)
        if breaks_at is not None:
            # What breaks a promise that is checked has no sensitivity, so nothing is counted.
            return Prepared(last, promise, breaks_at)
    newest = max(0, made - 1)  # the step of the stored totals
    counted = grown.counted(terms.values(), newest)
    series = _ongoing(ledger, stored_series, terms, counted.counts)
    return Prepared(last, promise, None, series, counted)


def _ongoing(
    ledger: Ledger,
    stored_series: Mapping[str, StoredSeries],
    terms: Mapping[str, SeriesTerms],
    counts: SeriesCounts,
) -> dict[str, Ongoing]:
    """Every series, ready for its next release."""
    ongoing = {}
    for each in ledger.series:
        own, newest = terms[each.series], each.releases[-1].asked if each.releases else ()
        ongoing[each.series] = Ongoing(
            terms=own,
            counted=counts.of(own),
            state=state_of(each.series, stored_series[each.series]),
            processing=_processing(own, each),
        )
        ongoing[each.series].require_fitting(each.series, len(ledger.sealed), newest)
    return ongoing


def _processing(terms: SeriesTerms, series: PublishedSeries) -> Processing | Trail:
    """The post-processing after all releases of a series."""
    if terms.follows:
        return Trail.of(terms.plan, (release.asked for release in series.releases))
    history = (release.raw for release in series.releases)
    return Processing.of(terms.statistic, series.width, history)


def terms_of(ledger: Ledger, stored_series: Mapping[str, StoredSeries]) -> dict[str, SeriesTerms]:
    """The terms of every series; their plans are those that they were opened with."""
    bound = ledger.versions[-1].degree_bound
    return {
        each.series: SeriesTerms(
            statistic=each.promise.counted(),
            bound=each.promise.threshold() or bound,
            plan=plan_of(each.series, stored_series[each.series]),
            first_step=each.first_step,
        )
        for each in ledger.series
    }


def require_bound_so_far(stored: Stored, backend: Backend) -> None:
    """Refuse a series that would count on a promise which sealed steps have already broken.

    Series that project do not count on it, so it may be. The new one could never be published,
    and would hold up the others forever.
    """
    from graphveil.graph.degrees import broken_promise

    promise = stored.promise
    cut = all(each.projection is not None for each in promise.series)
    if promise.degree_bound.checked and cut and not backend.keeps_promise(stored):
        raise broken_promise(promise.degree_bound)


def require_bound(prepared: Prepared, *, begun: bool) -> None:
    """Refuse to seal anything if one of the steps that were asked for breaks the promise.

    To seal those before it would show where it is broken to everybody who sees how far the
    command has come.

    Args:
        prepared: all the steps that are still to be sealed.
        begun: whether some were sealed by the same command, before others added records.
    """
    if prepared.breaks_at is None:
        return
    promise = prepared.promise
    label = promise.calendar.label(prepared.breaks_at)
    so_far = "Nothing more was sealed." if begun else "Nothing was published or spent."
    raise BoundError(
        f"{label} cannot be sealed: somebody has more links than promised "
        f"({promise.degree_bound}). {so_far} For the operator only: keep "
        "secret that this appeared.",
        hint=Hint("withdraw"),
    )


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is known of some steps before they are sealed; public, all of it.

    Attributes:
        steps: which, without a gap.
        widths: half the length of the interval at each of them, by series.
        changes: how far noise can reach in what is new at each of them, by series.
    """

    steps: range
    widths: Mapping[str, Sequence[int]]
    changes: Mapping[str, Sequence[tuple[ChangeFact, ...]]]


def predicted(prepared: Prepared, steps: range) -> Prediction:
    """The widths of intervals take long to find, and need not keep other writers waiting."""
    level = prepared.promise.confidence
    asked = _asked(prepared.promise.calendar)
    widths = {name: each.widths(steps, level) for name, each in prepared.series.items()}
    changes = {name: each.changes(steps, level, asked) for name, each in prepared.series.items()}
    return Prediction(steps, widths, changes)


def _asked(calendar: Calendar) -> tuple[Change, ...]:
    """The changes that readers ask for: of a step, and of a time such as a year."""
    longer = phrases.span(calendar)
    spans = (1,) if longer is None else (1, longer)
    return tuple(Change(over, against) for over in spans for against in (False, True))


@dataclass(frozen=True, eq=False)
class Sealed:
    """Steps that were sealed.

    Attributes:
        rows: what was entered into the ledger.
        prepared: the same preparation, for the step that follows.
    """

    rows: tuple[LedgerRow, ...]
    prepared: Prepared


def seal(transaction: Transaction, prepared: Prepared, ahead: Prediction) -> Sealed:
    """Close steps: their segment, their release of every series, and their rows, all at once.

    Noise is drawn here and nowhere else, inside the transaction that keeps it.
    """
    counted = prepared.counted
    assert counted is not None, "nothing is sealed that breaks the promise"
    files = counted.write_segment(ahead.steps)
    rows: list[LedgerRow] = []
    series = dict(prepared.series)
    for place, step in enumerate(ahead.steps):
        label = prepared.promise.calendar.label(step)
        sealed = StepSealed(step=step, label=label, **Software.now())
        last = step == ahead.steps[-1]
        rows.append(transaction.append(sealed, private=files))
        if last and ahead.steps.stop == counted.steps:  # these are the last steps to be sealed
            for engine, entry in counted.keep(rows[-1].hash).items():
                transaction.keep_beside(engine, entry)
        for name, each in series.items():
            made = make_release(
                each.terms, each.state, each.counted, each.processing, label, ReleaseNoise()
            )
            series[name] = replace(each, state=made.state, processing=made.processing)
            fact = _announcement(
                name,
                made.release,
                prepared.promise.confidence,
                ahead.widths[name][place],
                ahead.changes[name][place],
            )
            rows.append(_enter(transaction, fact, made, keep=last))
    return Sealed(tuple(rows), replace(prepared, last_hash=rows[-1].hash, series=series))


def _enter(
    transaction: Transaction, fact: ReleaseMade, made: MadeRelease, *, keep: bool
) -> LedgerRow:
    """Enter a release, and the new state of the series if it is the last release for now."""
    private: dict[str, Any] = {"differences": list(made.difference), "noise": list(made.noise)}
    state = canonical(made.state.to_dict()) if keep else None
    if state is not None:
        private["state"] = digest(state)
    row = transaction.append(fact, private=private)
    transaction.enter_release(fact.series, fact.step, row)
    if state is not None:
        transaction.keep_state(fact.series, state)
    return row


def _announcement(
    name: str, release: Release, level: str, width: int, changes: tuple[ChangeFact, ...]
) -> ReleaseMade:
    """What is published about it."""
    reach, parts = release.reach(width), release.plan.request.projected_l1 or 1
    return ReleaseMade(
        series=name,
        step=release.step,
        label=release.label,
        raw=release.raw,
        processed=tuple(round(value, DIGITS) for value in release.processed),
        processing=release.processing,
        noise_std=round(release.noise_std, DIGITS),
        level=level,
        low=tuple(number - reach for number in release.raw),
        high=tuple(number + reach for number in release.raw),
        changes=changes,
        answers=tuple(
            AnswerFact(threshold=each.threshold, scaled=each.scaled, parts=parts)
            for each in release.answers
        ),
    )
