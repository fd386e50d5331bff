"""The comparison: every candidate by name, our own and yours, on one trial.

Each of ours competes twice: as it is published, and post-processed, with ``+post`` behind its
name. Post-processing costs no privacy.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError, nearest_name
from graphveil.graph.promises import Bound
from graphveil.lab.experiments import builtin
from graphveil.lab.experiments.protocol import early_share, mean_and_standard_error
from graphveil.lab.experiments.trial import Attempt, Trial
from graphveil.mechanisms.mechanism import Mechanism, Request
from graphveil.mechanisms.planning.plan import Plan

# A candidate of one's own, named as module:object.
#
# The object is a function of a `Trial` that returns what it publishes in every run, or None
# where it does not admit the subject; or it is a `Mechanism`, planned and simulated like all
# others. `docs/your-own-contender.md` shows both.


Competing: TypeAlias = Mechanism | Callable[[Trial], NDArray[np.number] | None]
LONGEST_CAUSE = 120  # characters of somebody else's error


@dataclass(frozen=True)
class OwnContender:
    """A candidate by its address, which another process can load as well.

    Attributes:
        address: module:object.
        digest: of the module's file, so that results of an earlier version are not taken for its.
    """

    address: str
    digest: str

    @classmethod
    def at(cls, address: str) -> OwnContender:
        """The candidate at an address; refuses what cannot compete."""
        _loaded(address)
        module = sys.modules[address.partition(":")[0]]
        file = getattr(module, "__file__", None)
        content = Path(file).read_bytes() if file else b""
        return cls(address, hashlib.sha256(content).hexdigest())

    @property
    def name(self) -> str:
        """What it is called in tables and figures."""
        return self.address.partition(":")[2]

    def attempt(self, trial: Trial) -> Attempt | None:
        """Let it publish a subject; an error in it is reported as its own."""
        candidate = _loaded(self.address)
        try:
            if isinstance(candidate, Mechanism):
                return _planned(candidate, trial)
            estimates = candidate(trial)
        except Exception as error:
            where = f"{trial.subject.dataset}, {trial.subject.version}, {trial.subject.asked}"
            raise _refused(self.address, f"failed on {where}: {_first_line(error)}") from error
        return None if estimates is None else self._checked(estimates, trial)

    def _checked(self, estimates: object, trial: Trial) -> Attempt:
        """Refuse what is not a finite number for every release of every run."""
        wanted = (trial.runs, *trial.totals.shape)
        try:
            published = np.asarray(estimates, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise _refused(self.address, "must return numbers") from error
        if published.shape != wanted:
            raise _refused(
                self.address,
                f"must return an array of shape {wanted}, not {published.shape}",
                hint="A row for each run, with a number for each release.",
            )
        if not np.isfinite(published).all():
            raise _refused(self.address, "must return finite numbers")
        return Attempt(published, trial.totals, self.name)


def _planned(member: Mechanism, trial: Trial) -> Attempt | None:
    """A mechanism under the subject's degree bound."""
    subject = trial.subject
    request = Request(
        trial.sensitivity,
        trial.epsilon,
        None,
        trial.releases,
        subject.statistic.width(subject.bound),
        shape=subject.statistic.shape(subject.bound),
    )
    if member.refusal(request) is not None:
        return None
    return trial.attempt(Plan.of(member, request))


@lru_cache
def _loaded(address: str) -> Competing:
    module, _, name = address.partition(":")
    if not module or not name:
        raise ParameterError(
            "contender", "must be written as module:object", hint="As in mine:my_mechanism."
        )
    candidate = _resolved(module, name, address)
    if isinstance(candidate, type) and issubclass(candidate, Mechanism):
        return candidate()
    if not isinstance(candidate, Mechanism) and not callable(candidate):
        raise _refused(address, "is neither a function nor a mechanism")
    member: Competing = candidate
    return member


def _resolved(module: str, name: str, address: str) -> Any:
    try:
        resolve_name(f"{module}:")
    except ModuleNotFoundError as error:
        if error.name not in (module, module.partition(".")[0]):
            raise _refused(address, f"cannot be imported: {_first_line(error)}") from error
        hint = f"Run the command where {module.partition('.')[0]} is, or install it."
        raise ParameterError("contender", f"there is no module '{module}'", hint=hint) from error
    except Exception as error:
        raise _refused(address, f"cannot be imported: {_first_line(error)}") from error
    try:
        return resolve_name(address)
    except AttributeError as error:
        offered = [each for each in dir(sys.modules[module]) if not each.startswith("_")]
        hint = nearest_name(name, offered)
        raise ParameterError("contender", f"'{module}' has no '{name}'", hint=hint) from error


def _refused(address: str, reason: str, hint: str = "") -> ParameterError:
    return ParameterError("contender", f"'{address}' {reason}", hint=hint)


def _first_line(error: Exception) -> str:
    cause = f"{type(error).__name__}: {error}"
    return cause if len(cause) <= LONGEST_CAUSE else f"{cause[:LONGEST_CAUSE]}…"


SENSDIFF, COMPOSE, PROJECTION = "sensdiff", "compose-d-bounded", "compose-projection"
SENSDIFF_DOUBLE = "sensdiff-doubled"
TIGHT, LAW, AUTO = "sensdiff-tight", "shape-law", "auto"
AUTO_RELATIVE = "auto-relative"
HUBS, TUNED_HUBS = "hubs", "hubs-tuned"
HUBS_DOUBLE, HUBS_HALF = "hubs-doubled", "hubs-halved"
SHAPED, TUNED_SHAPED = "shaped-projection", "shaped-projection-tuned"
SHAPED_DOUBLE, SHAPED_HALF = "shaped-projection-doubled", "shaped-projection-halved"
FOLLOWING, GUESSED = "following", "following-guess"
GUESSED_DOUBLE, GUESSED_HALF = "following-guess-doubled", "following-guess-halved"
POST = "+post"

Publishing = Callable[[Trial], Attempt | None]  # None where the subject is not admitted

PAPERS: dict[str, Publishing] = {
    SENSDIFF: builtin.sensdiff,
    COMPOSE: builtin.compose_d_bounded,
    PROJECTION: builtin.compose_projection,
}
OURS: dict[str, Publishing] = {
    TIGHT: builtin.tight,
    LAW: builtin.law,
    AUTO: builtin.auto,
    AUTO_RELATIVE: partial(builtin.auto, minimise="relative"),
    HUBS: builtin.hubs,
    TUNED_HUBS: builtin.tuned_hubs,
    SHAPED: builtin.shaped,
    TUNED_SHAPED: builtin.tuned_shaped,
    FOLLOWING: builtin.following,
    GUESSED: partial(builtin.following, times=Fraction(1)),
    SENSDIFF_DOUBLE: builtin.sensdiff_doubled,
    HUBS_DOUBLE: partial(builtin.hubs_wrongly, halved=False),
    HUBS_HALF: partial(builtin.hubs_wrongly, halved=True),
    SHAPED_DOUBLE: partial(builtin.shaped_wrongly, halved=False),
    SHAPED_HALF: partial(builtin.shaped_wrongly, halved=True),
    GUESSED_DOUBLE: partial(builtin.following, times=Fraction(2)),
    GUESSED_HALF: partial(builtin.following, times=Fraction(1, 2)),
}
# Candidates whose parameters were read off the data, with these twice or half as large.
WRONG_BY_TWO = (
    SENSDIFF_DOUBLE,
    HUBS_DOUBLE,
    HUBS_HALF,
    SHAPED_DOUBLE,
    SHAPED_HALF,
    GUESSED_DOUBLE,
    GUESSED_HALF,
)
TUNED = (PROJECTION, TUNED_HUBS, TUNED_SHAPED)  # by their true error, which is not private
CONTENDERS = (*PAPERS, *(name + post for name in OURS for post in ("", POST)))


@dataclass(frozen=True)
class Outcome:
    """How one candidate did.

    Attributes:
        mechanism: its name in the comparison.
        error: the mean relative L1 error over the runs.
        standard_error: of that mean.
        absolute_error: the mean of |A − f|, over runs and releases; of what is tuned, with the
            threshold for which it is least.
        noiseless_error: the relative error that would be left without noise: what is dropped
            with links that are not counted, and 0 where all are.
        noise: the mechanism that drew the noise, which tells the planner's choice.
        sensitivity: what its noise was calibrated to; None if that is not known.
        early: the part of the relative error that the first fifth of the releases has.
        worst_loss: what the most exposed person of the data loses, in multiples of ε.
        threshold: what links were dropped by, if they were.
        absolute_threshold: the same where the absolute error was tuned by itself.
    """

    mechanism: str
    error: float
    standard_error: float
    absolute_error: float
    noiseless_error: float
    noise: str
    sensitivity: int | None
    early: float
    worst_loss: float
    threshold: Bound | None = None
    absolute_threshold: Bound | None = None


def outcomes(trial: Trial, own: OwnContender | None = None) -> list[Outcome]:
    """Every candidate that admits the subject, in the order of `CONTENDERS`; or one's own."""
    if own is not None:
        return list(_raw_and_processed(trial, own.name, own.attempt))
    found = []
    for name, publish in PAPERS.items():
        if (attempt := publish(trial)) is not None:
            found.append(_outcome(trial, name, attempt))
    for name, publish in OURS.items():
        found += _raw_and_processed(trial, name, publish)
    return found


def own_contenders(addresses: Iterable[str]) -> tuple[OwnContender, ...]:
    """The candidates at these addresses; refuses those whose name is taken."""
    candidates = tuple(OwnContender.at(address) for address in dict.fromkeys(addresses))
    taken = set(CONTENDERS)
    for each in candidates:
        if each.name in taken:
            raise ParameterError(
                "contender",
                f"there is another one called '{each.name}'",
                hint="Give the object another name.",
            )
        taken |= {each.name, each.name + POST}
    return candidates


def _raw_and_processed(trial: Trial, name: str, publish: Publishing) -> Iterator[Outcome]:
    attempt = publish(trial)
    if attempt is not None:
        yield _outcome(trial, name, attempt)
        yield _outcome(trial, name + POST, trial.processed(attempt))


def _outcome(trial: Trial, name: str, attempt: Attempt) -> Outcome:
    mean, deviation = mean_and_standard_error(trial.errors(attempt.estimates))
    least = attempt.by_absolute or attempt
    return Outcome(
        mechanism=name,
        error=mean,
        standard_error=deviation,
        absolute_error=trial.absolute_error(least),
        noiseless_error=float(trial.errors(attempt.counted[np.newaxis])[0]),
        noise=attempt.noise,
        sensitivity=attempt.sensitivity,
        early=early_share(attempt.estimates, trial.totals),
        worst_loss=attempt.worst_loss,
        threshold=attempt.threshold,
        absolute_threshold=least.threshold,
    )
