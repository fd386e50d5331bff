"""The comparison: every contender by name, and how each does on one trial.

Each of ours competes twice: as it is published, and post-processed, with ``+post`` behind its
name. Post-processing costs no privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from graphveil.errors import ParameterError
from graphveil.experiments.contenders import papers, projected, promised
from graphveil.experiments.contenders.own import OwnContender
from graphveil.experiments.contenders.trial import Attempt, Trial
from graphveil.experiments.protocol.protocol import mean_and_standard_error
from graphveil.graph.promises.bound import Bound

SENSDIFF, COMPOSE, PROJECTION = "sensdiff", "compose-d-bounded", "compose-projection"
TIGHT, LAW, AUTO = "sensdiff-tight", "shape-law", "auto"
AUTO_RELATIVE = "auto-relative"
HUBS, TUNED_HUBS = "hubs", "hubs-tuned"
SHAPED, TUNED_SHAPED = "shaped-projection", "shaped-projection-tuned"
POST = "+post"

Publishing = Callable[[Trial], Attempt | None]  # None where the subject is not admitted

PAPERS: dict[str, Publishing] = {
    SENSDIFF: papers.sensdiff,
    COMPOSE: papers.compose_d_bounded,
    PROJECTION: papers.compose_projection,
}
OURS: dict[str, Publishing] = {
    TIGHT: promised.tight,
    LAW: promised.law,
    AUTO: promised.auto,
    AUTO_RELATIVE: promised.auto_relative,
    HUBS: promised.hubs,
    TUNED_HUBS: promised.tuned_hubs,
    SHAPED: projected.shaped,
    TUNED_SHAPED: projected.tuned_shaped,
}
TUNED = (PROJECTION, TUNED_HUBS, TUNED_SHAPED)  # by their true error, which is not private
CONTENDERS = (*PAPERS, *(name + post for name in OURS for post in ("", POST)))


@dataclass(frozen=True)
class Outcome:
    """How one contender did.

    Attributes:
        mechanism: its name in the comparison.
        error: the mean relative L1 error over the runs.
        standard_error: of that mean.
        absolute_error: the mean of |A − f|, over runs and releases.
        noiseless_error: the relative error that would be left without noise: what is dropped
            with links that are not counted, and 0 where all are.
        noise: the mechanism that drew the noise, which tells the planner's choice.
        sensitivity: what its noise was calibrated to; None if that is not known.
        threshold: what links were dropped by, if they were.
    """

    mechanism: str
    error: float
    standard_error: float
    absolute_error: float
    noiseless_error: float
    noise: str
    sensitivity: int | None
    threshold: Bound | None = None


def outcomes(trial: Trial, own: OwnContender | None = None) -> list[Outcome]:
    """Every contender that admits the subject, in the order of `CONTENDERS`; or one's own."""
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
    """The contenders at these addresses; refuses those whose name is taken."""
    found = tuple(OwnContender.at(address) for address in dict.fromkeys(addresses))
    taken = set(CONTENDERS)
    for each in found:
        if each.name in taken:
            raise ParameterError(
                "contender",
                f"there is another one called '{each.name}'",
                hint="Give the object another name.",
            )
        taken |= {each.name, each.name + POST}
    return found


def _raw_and_processed(trial: Trial, name: str, publish: Publishing) -> Iterator[Outcome]:
    attempt = publish(trial)
    if attempt is not None:
        yield _outcome(trial, name, attempt)
        yield _outcome(trial, name + POST, trial.processed(attempt))


def _outcome(trial: Trial, name: str, attempt: Attempt) -> Outcome:
    mean, deviation = mean_and_standard_error(trial.errors(attempt.estimates))
    wrong = np.abs(attempt.estimates - trial.totals).sum() / (trial.runs * trial.releases)
    return Outcome(
        mechanism=name,
        error=mean,
        standard_error=deviation,
        absolute_error=float(wrong),
        noiseless_error=float(trial.errors(attempt.counted[np.newaxis])[0]),
        noise=attempt.noise,
        sensitivity=attempt.sensitivity,
        threshold=attempt.threshold,
    )
