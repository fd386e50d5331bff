"""Following: links counted at thresholds that follow what was published, without any promise.

A release asks one question or more: how many links are left if at most D of each person count?
D follows from earlier answers by a public rule. One draw of range noise serves all questions, in
parts of a threshold. The rule is computed in whole numbers, so that every machine finds the same D.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from graphveil.mechanisms.factorisations.factorisation import Questions
from graphveil.mechanisms.mechanism import (
    Epoch,
    Measured,
    Mechanism,
    Request,
    joint_refusal,
    register,
)
from graphveil.noise.joint_laws import RangeNoise

# The mechanism of this name has these numbers for ever: others would be another mechanism.
SPARE = 2  # questions beyond one per release, at first or where the size jumps
JUMP = 2  # another question is asked where it would have so many times the threshold
LARGEST_THRESHOLD = 2**30  # far beyond anybody's links, and a whole number for every counter


@register
@dataclass(frozen=True)
class Following(Mechanism):
    """Links of at most D_t per person, D_t chosen from what was published before.

    Guarantees: ε-node-DP for T releases on *every* sequence, whatever its degrees and whatever rule
        chooses thresholds from published numbers (`docs/mechanisms.md#following`).
    """

    name = "following"
    summary = "links of at most as many per person as suit the size published so far"
    measured = Measured.PROJECTED_TOTALS
    whole = True
    follows = True
    proof = "docs/mechanisms.md#following"

    def refusal(self, request: Request) -> str | None:
        """Needs links, which one person can only raise."""
        reason = super().refusal(request)
        if reason is None and not (request.projected_l1 and request.projected_rises):
            reason = "is for links (edges) only"
        return reason or joint_refusal(_law(request))

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        return None if number else Epoch(Questions(request.known_horizon(), SPARE), _law(request))

    def unit(self, request: Request, epoch: Epoch, place: int) -> float:
        """The expected threshold, in parts, if links grow evenly up to the public guess."""
        rule = Rule.of(request, epoch)
        size = Fraction(rule.guess[0] * (place + 1), request.known_horizon())
        return rule.threshold(size) / rule.parts


def _law(request: Request) -> RangeNoise:
    steps = request.known_horizon() + SPARE
    return RangeNoise(request.known_projected_l1() / request.epsilon, steps)


@dataclass(frozen=True)
class Answer:
    """The answer to one question; public.

    Attributes:
        threshold: how many links of each person were counted at most.
        scaled: the count with its noise, in parts of the threshold: a whole number.
    """

    threshold: int
    scaled: int

    def value(self, parts: int) -> Fraction:
        """The count with its noise, exactly."""
        return Fraction(self.scaled * self.threshold, parts)

    def raw(self, parts: int) -> int:
        """The same, rounded to a whole number, halves up."""
        return (2 * self.scaled * self.threshold + parts) // (2 * parts)

    def reach(self, width: int, parts: int) -> int:
        """How far the count can be from `raw` where the noise is at most `width` parts.

        Guarantees: with v = ⌊parts·h/D⌋ = scaled − y and |y| ≤ width, the count h lies between
            D·(scaled − width)/parts and D·(scaled + width + 1)/parts, and `raw` is off by ½.
        """
        return (2 * self.threshold * (width + 1) + parts) // (2 * parts)


@dataclass(frozen=True)
class Rule:
    """How thresholds follow from published sizes, in one epoch.

    Attributes:
        epsilon: of the epoch.
        questions: how many it has, the spare ones included.
        parts: into how many a threshold is divided.
        guess: the links at the end and, perhaps, the threshold there.
    """

    epsilon: Fraction
    questions: int
    parts: int
    guess: tuple[int, ...]

    @classmethod
    def of(cls, request: Request, epoch: Epoch) -> Rule:
        """The rule of an epoch of a plan."""
        assert request.guess is not None, "refused before"
        parts = request.known_projected_l1()
        loss = parts * epoch.law.privacy_loss
        return cls(loss, epoch.factorisation.measurements, parts, request.guess)

    def measured(self, count: int, threshold: int) -> int:
        """A count in whole parts of a threshold.

        Guarantees: two counts that differ by 0 to `threshold` differ in this by 0 to `parts`
            (`docs/mechanisms.md#following`).
        """
        return self.parts * count // threshold

    @property
    def noise(self) -> Fraction:
        """The mean absolute noise at a threshold of 1."""
        return (self.questions + 2) / (3 * self.epsilon)

    def threshold(self, size: Fraction) -> int:
        """D for a network of about so many links, at least 1.

        Without a guess D = ½·(size/noise)^⅔; with one, the geometric mean of that and of
        D_end·√(size/links). Its twelfth power is a fraction, so that nothing is rounded but D.
        """
        if size <= 0:
            return 1
        cube = (size / self.noise) ** 2 / 8
        power = cube**4
        if len(self.guess) == 2:
            links, last = self.guess
            power = cube**2 * (last**2 * size / links) ** 3
        return max(1, min(nearest_root(power, 12), LARGEST_THRESHOLD))

    def corrected(self, answer: Answer) -> Fraction:
        """An answer with about as much added as its threshold drops: half the mean noise.

        At the best threshold one more link per person adds about what it costs in noise.
        """
        return answer.value(self.parts) + answer.threshold * self.noise / 2

    def next(self, forecast: Fraction, answers: Sequence[Answer], *, spare: bool) -> int | None:
        """The threshold of the next question of a release; None where its last one is answered.

        Args:
            forecast: the size that earlier releases lead to expect; 0 before the first.
            answers: to the questions of this release so far.
            spare: whether there is a question left that no later release needs.
        """
        if not answers:
            return self.threshold(forecast)
        wider = self.threshold(self.corrected(answers[-1]))
        return wider if spare and wider >= JUMP * answers[-1].threshold else None


def rank_of_guess(releases: int, epsilon: Fraction) -> int:
    """Whose number of links is the best last threshold: about this many people have more.

    One more link per person keeps so many links, and costs (n + 2)/(3ε) in mean noise, n questions;
    that a little more than twice as many is better was found on public networks.
    """
    return int(2 * (releases + SPARE + 2) / (3 * epsilon))


def rival_bound(predicted: Sequence[float], epsilon: Fraction) -> int:
    """The promised bound at which SensDiff would have about the same error as predicted noise.

    What a threshold drops and what post-processing wins back are about equal, so the noise alone is
    compared. On public networks it was right within a third, but for dense ones with few releases
    and for those that grow unevenly, where the bound may be two to five times as large.
    """
    steps = len(predicted)
    single = sum(sqrt(2 * step) for step in range(1, steps + 1)) / float(epsilon)
    return max(1, round(sum(predicted) / single))


def nearest_root(number: Fraction, degree: int) -> int:
    """The whole number nearest to a root, halves up: (2n − 1)^degree ≤ 2^degree·number."""
    target = 2**degree * number.numerator // number.denominator
    low, high = 0, 1 << (target.bit_length() // degree + 1)
    while low < high:  # the largest root whose power is at most the target
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= target else (low, middle - 1)
    return (low + 1) // 2
