"""An audit of thresholds that follow: an adversary chooses the questions and weighs the answers.

It knows both neighbours, sees every answer, and asks through the very code of releases. Since it
also knows the law of the noise, its score is the exact logarithm of how much likelier a transcript
is on one side: no observer of these questions does better. A fault that lets a question depend on
the data shows as a transcript that one side could never have made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TypeAlias

import numpy as np

from graphveil.lab.audit import Evidence, Scores, best_event, judge
from graphveil.lab.audit_cases import Ahead
from graphveil.mechanisms.following import Answer
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import NoiseSource
from graphveil.series.state import Trail, ask, start

NEVER = 1e9  # the score of a transcript that one side could not have made
World: TypeAlias = Callable[[int, int], int]  # the exact count at a step, at a threshold
Transcript: TypeAlias = tuple[tuple[Answer, ...], ...]  # by release
Chooser: TypeAlias = Callable[["Questioner", Sequence[Answer]], int]


@dataclass(frozen=True)
class Questioner(Trail):
    """A history whose thresholds an adversary chooses, from all answers so far.

    Attributes:
        choose: the threshold of the next question. It may look at everything that is here: a
            sound one leaves `world` alone.
        seen: the answers of earlier releases.
        world: the exact counts, for planted faults only.
    """

    choose: Chooser = lambda _, __: 1
    seen: Transcript = ()
    world: World = lambda _, __: 0

    def next(self, answers: Sequence[Answer]) -> int | None:
        """As many questions as the mechanism admits: the spare ones are asked at once."""
        epoch, there = self.plan.epoch(0), self.made
        left = epoch.factorisation.measurements - self.asked - len(answers)
        if answers and left <= epoch.steps - there - 1:
            return None
        return self.choose(self, answers)

    def after(self, answers: Sequence[Answer]) -> Questioner:
        """With one release more."""
        asked = self.asked + len(answers)
        return replace(self, made=self.made + 1, asked=asked, seen=(*self.seen, tuple(answers)))


def transcript(plan: Plan, world: World, choose: Chooser, source: NoiseSource) -> Transcript:
    """All answers of one series of one epoch, asked as releases ask."""
    history, state = Questioner(plan, choose=choose, world=world), start(plan)
    for step in range(plan.epoch(0).steps):
        asked = ask(history, state, partial(world, step), source)
        history, state = history.after(asked.answers), asked.state
    return history.seen


def log_ratio(
    plan: Plan, seen: Transcript, larger: World, smaller: World, choose: Chooser
) -> float:
    """How much likelier a transcript is on the larger side: a natural logarithm, exact.

    Every answer is what was measured plus one noise, so a transcript and a side make one vector of
    noise, whose probability is ∝ exp(−range/scale).
    """
    ranges = [_range(plan, seen, world, choose) for world in (larger, smaller)]
    if None in ranges:
        return inf if ranges[1] is None else -inf
    first, second = (each or 0 for each in ranges)
    return float((second - first) * plan.epoch(0).law.privacy_loss)


def _range(plan: Plan, seen: Transcript, world: World, choose: Chooser) -> int | None:
    """The norm of the noise that a side needs for a transcript; None if it never asks that."""
    history, noise = Questioner(plan, choose=choose, world=world), [0]
    for step, answers in enumerate(seen):
        for asked, answer in enumerate(answers):
            if history.next(answers[:asked]) != answer.threshold:
                return None
            measured = history.rule.measured(world(step, answer.threshold), answer.threshold)
            noise.append(answer.scaled - measured)
        history = history.after(answers)
    return max(noise) - min(noise)


def audit_questions(
    plan: Plan,
    larger: World,
    smaller: World,
    choose: Chooser,
    *,
    source: NoiseSource,
    runs: int,
    confidence: float = 1 - 1e-6,
) -> Evidence:
    """What an adversary's questions prove about ε, with this confidence.

    Args:
        plan: the claim, by whose law transcripts are weighed.
        larger: the counts of the network with the person.
        smaller: those of the network without.
        choose: which thresholds it asks for.
        source: what draws the noise of the series.
        runs: how many series of each side are judged; as many choose the event before.
        confidence: how sure the bound must be.
    """
    error, drawing = (1 - confidence) / 2, Ahead(source)

    def scores(world: World) -> Scores:
        found = (transcript(plan, world, choose, drawing) for _ in range(runs))
        weighed = [log_ratio(plan, seen, larger, smaller, choose) for seen in found]
        return np.asarray(np.clip(np.array(weighed), -NEVER, NEVER))

    _, event = best_event(scores(larger), scores(smaller), 0.0, error)
    return judge(event, scores(larger), scores(smaller), 0.0, error)
