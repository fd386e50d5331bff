"""Drafting: from a request to a study file with every share and mechanism settled."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.errors import BudgetError, ParameterError, StudyError
from graphveil.graph.groups import NO_GROUPS, Groups
from graphveil.hints import Hint
from graphveil.noise.exact_numbers import as_text, exact_delta, exact_epsilon
from graphveil.steward.custody import keep_in_mind
from graphveil.study import Promise, SeriesPromise, StoredStudy

if TYPE_CHECKING:
    from pathlib import Path

    from graphveil.calendar.calendar import Calendar
    from graphveil.steward.outlook import Outlook
    from graphveil.steward.requests import SeriesRequest, StudyRequest
    from graphveil.steward.sharing import Sharing
    from graphveil.study.folder import Folder


@dataclass(frozen=True)
class Draft:
    """A study of which nothing is promised or spent yet.

    Attributes:
        promise: what it says.
        outlooks: the predicted error of each series.
        sharing: how series that named no share came to theirs; None if there are not two of them.
        study_file: where the steward reads it, and edits it until it is right; None as long as it
            is not written.
    """

    promise: Promise
    outlooks: tuple[Outlook, ...]
    sharing: Sharing | None = None
    study_file: Path | None = None

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        from graphveil.steward.status import BudgetStatus

        return {
            "study_file": str(self.study_file),
            "title": self.promise.title,
            "calendar": self.promise.calendar.describe(),
            "promised": self.promise.bound_sentence,
            "spent": False,
            "budget": asdict(BudgetStatus.of(self.promise)),
            "series": [each.as_data() for each in self.outlooks],
            "shares": self.sharing.as_data() if self.sharing else None,
        }

    def write(self, folder: Path, *, database: str | None = None) -> Draft:
        """Create the study in a new folder; with a URL, its ledger is stored in PostgreSQL."""
        study = StoredStudy.create(folder, self.promise, database=database)
        keep_in_mind(folder)
        return replace(self, study_file=study.folder.study_file)


def create(
    folder: Path,
    request: StudyRequest,
    *,
    database: str | None = None,
    even_too_noisy: bool = False,
) -> Draft:
    """Create a study; refuses series that would be too noisy, unless these are accepted."""
    return begin(folder, draft(request), database=database, even_too_noisy=even_too_noisy)


def begin(
    folder: Path, drafted_study: Draft, *, database: str | None = None, even_too_noisy: bool = False
) -> Draft:
    """Write a draft into a new folder, unless the noise would be too much for a series."""
    if not even_too_noisy:
        require_useful(drafted_study.outlooks)
    return drafted_study.write(folder, database=database)


def draft(request: StudyRequest) -> Draft:
    """The study that a request leads to; writes nothing, so that it can be tried out."""
    from graphveil.steward.outlook import outlooks
    from graphveil.steward.sharing import sharing

    promise = drafted(request)
    predicted = outlooks(promise)
    return Draft(promise, predicted, sharing(predicted, request.series))


def drafted(request: StudyRequest) -> Promise:
    """The study file that a request leads to."""
    from graphveil.steward.sharing import shared
    from graphveil.study.promise import require_limits

    entries = _entries(request)
    with refused_as("the new study"):
        promise = Promise.from_data(entries, "the new study")
        require_limits(promise, "the new study")
    return settled(shared(promise, request.series))


def from_study_file(given: Path | bytes) -> Draft:
    """The study that a study file describes: one written by hand, or another study's.

    Args:
        given: where it is, or what is in it.
    """
    from graphveil.steward.outlook import outlooks
    from graphveil.study.opening import require_affordable, require_draft
    from graphveil.study.public_part import text_in, text_of

    source = "study.toml" if isinstance(given, bytes) else given.name
    text = text_in(given, source) if isinstance(given, bytes) else text_of(given)
    promise = Promise.from_toml(text, source)
    promise = promise.model_copy(
        update={  # what another study promised later begins with the first step here
            "series": tuple(each.model_copy(update={"opened": None}) for each in promise.series),
            "ratios": tuple(each.model_copy(update={"opened": None}) for each in promise.ratios),
        }
    )
    require_draft(promise)
    require_affordable(promise)
    promise = settled(promise)
    return Draft(promise, outlooks(promise))


def _entries(request: StudyRequest) -> dict[str, Any]:
    """The request in the terms of a study file."""
    from graphveil.study.promise_entries import ratio_entry

    series = with_shares(request.series, request.epsilon, request.pool)
    series = with_risks(series, request.delta) if request.pool is None else series
    series = tuple(with_objective(each, request.minimise) for each in series)
    if request.no_bound:
        series = tuple(without_promise(each, request.groups) for each in series)
    calendar = request.calendar.to_dict()
    return {
        "title": request.title,
        "population": request.population,
        "publisher": request.publisher,
        "directed": request.directed,
        "confidence": request.confidence,
        "bound": "none" if request.no_bound else _bound_entry(request),
        "calendar": {key: value for key, value in calendar.items() if value is not None},
        "budget": {
            "epsilon": request.epsilon,
            "justification": request.epsilon_reason,
            **({"delta": request.delta} if request.delta is not None else {}),
            **({"pool": _pool(request)} if request.pool is not None else {}),
        },
        "records": {
            "person_separator": request.person_separator,
            "case": "fold" if request.fold_case else "keep",
            "undated": request.undated,
        },
        **({"groups": request.groups} if request.groups else {}),
        "series": [each.as_entry() for each in series],
        **({"ratios": [ratio_entry(each) for each in request.ratios]} if request.ratios else {}),
    }


def without_promise(series: SeriesRequest, groups: Groups = NO_GROUPS) -> SeriesRequest:
    """A series of a study without a bound: its projection is named, or follows a public rule."""
    from graphveil.statistics.statistic import WINDOW, statistic

    if series.projection is not None or WINDOW in series.parameters:
        return series
    counted = statistic(series.statistic, groups=groups, **series.parameters)
    return replace(series, projection=counted.without_promise(series.expected))


def _pool(request: StudyRequest) -> dict[str, str]:
    """The requested pool, with all δ that no series has to itself."""
    if request.delta is None:
        raise ParameterError("pool", "is for Gaussian noise: it needs a δ", hint=Hint("delta"))
    given = (exact_delta(each.delta) for each in request.series if each.delta is not None)
    left = exact_delta(request.delta) - sum(given, Fraction())
    return {"epsilon": str(request.pool), "delta": as_text(exact_delta(left))}


def _bound_entry(request: StudyRequest) -> dict[str, Any]:
    return {
        "degree": request.degree,
        "inward": request.inward,
        "outward": request.outward,
        "oriented": request.oriented,
        "hubs": None if request.hubs is None else list(request.hubs),
        "if_broken": request.if_broken,
        "justification": request.bound_reason,
    }


def with_shares(
    series: Sequence[SeriesRequest], epsilon: str, pool: str | None = None
) -> tuple[SeriesRequest, ...]:
    """Give series that name no share an equal part of the rest, provisionally."""
    from graphveil.mechanisms.planning.shares import equal_shares

    open_ones = [each.called for each in series if each.names_no_share]
    if not open_ones:
        return tuple(series)
    given = [each.epsilon for each in series] + [pool]
    taken = (exact_epsilon(each) for each in given if each is not None)
    left = exact_epsilon(epsilon) - sum(taken, Fraction())
    if left <= 0:
        raise BudgetError(
            f"the shares that were given leave nothing of ε = {epsilon} for {', '.join(open_ones)}."
            " Give smaller shares, or one for each series."
        )
    share = as_text(equal_shares(left, len(open_ones))[0])
    return tuple(replace(each, epsilon=share) if each.names_no_share else each for each in series)


def with_risks(series: Sequence[SeriesRequest], delta: str | None) -> tuple[SeriesRequest, ...]:
    """Give series that name no δ an equal part of it, if their mechanism needs one."""
    if delta is None or not series:
        return tuple(series)
    share = as_text(exact_delta(delta) / len(series))
    return tuple(
        each if each.pool is not None else replace(each, delta=each.delta or share)
        for each in series
    )


def with_objective(series: SeriesRequest, minimise: str | None = None) -> SeriesRequest:
    """A series that names no error to minimise takes that of the study, or the default."""
    from graphveil.mechanisms.factorisations.objectives import DEFAULT

    return replace(series, minimise=series.minimise or minimise or str(DEFAULT))


def settled(promise: Promise) -> Promise:
    """The same study with "auto" replaced by the mechanism that it chooses now.

    A series whose mechanism is pure takes nothing of δ.
    """
    return promise.model_copy(
        update={"series": tuple(settled_series(promise, each, 0) for each in promise.series)}
    )


def settled_series(promise: Promise, series: SeriesPromise, first_step: int) -> SeriesPromise:
    """One series with its mechanism named, as of the step at which it begins."""
    from graphveil.study.opening import series_plan

    chosen = series_plan(promise, series, first_step)
    risk = chosen.request.delta
    delta = None if risk is None or series.pool is not None else as_text(risk)
    return series.model_copy(update={"mechanism": chosen.mechanism.name, "delta": delta})


@contextmanager
def refused_as(source: str) -> Iterator[None]:
    """Makes an error in a study that is not written yet name a parameter, not a file."""
    try:
        yield
    except StudyError as error:
        if not str(error).startswith(source):
            raise
        flaw = str(error).removeprefix(source).lstrip(",: ")
        problem, _, hint = flaw.partition(". ")
        raise ParameterError(source, problem.removesuffix("."), hint=hint) from error


# Calendars as people write them: a rhythm with its first and last step, or a list of cuts.


RHYTHMS = ("year", "quarter", "month", "week", "day")


def calendar(every: str, first: str, last: str | None = None) -> Calendar:
    """Even steps; where `every` is a number, how `first` is written decides the unit."""
    from graphveil.calendar.calendar import Calendar

    named = (
        Calendar.yearly,
        Calendar.quarterly,
        Calendar.monthly,
        Calendar.weekly,
        Calendar.daily,
    )
    if every in RHYTHMS:
        return named[RHYTHMS.index(every)](first, last)
    if not (every.isascii() and every.isdigit()):
        problem = f"must be {', '.join(RHYTHMS)} or a whole number, not '{every}'"
        raise ParameterError("every", problem)
    return Calendar.every(int(every), _time(first), None if last is None else _time(last))


def calendar_of_cuts(cuts: Sequence[str], end: str | None = None) -> Calendar:
    """Steps that begin at the given times."""
    from graphveil.calendar.calendar import Calendar

    times = [_time(cut.strip()) for cut in cuts]
    return Calendar.cuts(times, None if end is None else _time(end))


def _time(text: str) -> int | str:
    """Digits are a year if they are four, and a plain number if not."""
    plain = text.isascii() and text.isdigit() and len(text) != 4
    return int(text) if plain else text


# Too noisy: a series whose noise would exceed what is expected of it is not begun by mistake.


def too_noisy(outlooks: Sequence[Outlook]) -> list[str]:
    """The message about each series that would be too noisy."""
    return [
        f"'{each.series.name}'{' in its largest cell' if each.cells else ''}: {found}"
        for each in outlooks
        if (found := each.judgement) and found.too_noisy
    ]


def require_useful(outlooks: Sequence[Outlook]) -> None:
    """Refuse series that would be too noisy, with what helps."""
    messages = too_noisy(outlooks)
    if not messages:
        return
    more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
    raise ParameterError("series", f"{messages[0]}{more}", hint=Hint("too-noisy"))


# As long as nothing is promised, the study file may be changed, or all of it deleted.


def rewrite_draft(folder: Path, text: str) -> Promise:
    """Write another study file; refuses what is no promise, and changes nothing then."""
    from graphveil.study.promise import require_limits
    from graphveil.whole_files import write_bytes

    with _draft(folder) as place:
        promise = Promise.from_toml(text)
        require_limits(promise, "study.toml")
        write_bytes(place.study_file, text.encode())
        return promise


def delete_draft(folder: Path) -> None:
    """Remove both parts of a draft, with files that wait there; other files beside them stay."""
    with _draft(folder) as place:
        if (place.private / "store.toml").exists():
            raise StudyError(
                "the ledger of this draft is in a database: drop that, then remove the folder."
            )
        # Last the study file: as long as it is there, the draft is whole or can be deleted again.
        for each in (*place.public.iterdir(), place.public):
            if each not in (place.study_file, place.public):
                _remove(each)
        place.study_file.unlink()
        place.public.rmdir()
    shutil.rmtree(place.private)
    if not any(place.root.iterdir()):
        place.root.rmdir()


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def _draft(folder: Path) -> Iterator[Folder]:
    """The folder of a draft, while nobody else writes it; refuses a study that is open."""
    study = StoredStudy.at(folder)
    with study.writing() as transaction:  # as whoever adds the first records
        if transaction.ledger().is_open:
            raise StudyError("the study is open: its promise is binding, and stays as it is.")
        yield study.folder
