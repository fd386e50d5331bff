"""A world in which chance and time stand still, so that a study can be shown in a document.

Only from outside can this be done: the release path has no seed and no clock to be given.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from math import floor, log
from tempfile import TemporaryDirectory
from unittest import mock

from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.laws import DiscreteLaplace, NoiseLaw
from graphveil.noise.release_noise import ReleaseNoise, draw_vector


@dataclass
class World:
    """The time that it is, and the chance that is left.

    Attributes:
        chance: Python's own generator, whose numbers are the same in every version.
        names: another one, for salts and names of files, however many there are.
        time: what every clock shows.
    """

    chance: random.Random
    names: random.Random
    time: datetime = field(default_factory=lambda: datetime(2026, 1, 12, 9, tzinfo=UTC))

    def now(self, zone: tzinfo) -> datetime:
        """What `datetime.now` says."""
        return self.time.astimezone(zone)

    def set_date(self, date: str) -> None:
        """Go to nine o'clock of a day."""
        self.time = datetime.fromisoformat(date).replace(hour=9, tzinfo=UTC)

    def salt(self, size: int) -> str:
        """What `secrets.token_hex` says."""
        return self.names.randbytes(size).hex()

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        """Integers of the law, as a release would draw them."""
        chance = FrozenChance(law.size, self.chance)
        if isinstance(law, JointLaw):
            vectors = (draw_vector(law, chance) for _ in range(count // law.steps))
            return [entry for vector in vectors for entry in vector]
        assert isinstance(law, DiscreteLaplace), "documents publish with no Gaussian noise"
        both = chance.geometric(2 * count)
        return [up - down for up, down in zip(both[::2], both[1::2], strict=True)]


@dataclass(frozen=True)
class FrozenChance:
    """Geometric numbers of a scale, and uniform ones, that are the same every time."""

    scale: Fraction
    chance: random.Random

    @property
    def rate(self) -> Fraction:
        """Of the geometric numbers."""
        return 1 / self.scale

    def geometric(self, count: int) -> list[int]:
        """How long one waits; the difference of two such numbers is discrete Laplace."""
        scale = float(self.scale)
        return [floor(-scale * log(1 - self.chance.random())) for _ in range(count)]

    def below(self, number: int) -> int:
        """One of 0, …, number − 1."""
        return self.chance.randrange(number)


@contextmanager
def frozen(seed: str) -> Iterator[World]:
    """Let commands that are run in here live in that world."""
    world = World(random.Random(seed), random.Random(f"names in {seed}"))
    with ExitStack() as patches:
        memory = patches.enter_context(TemporaryDirectory())
        patches.enter_context(mock.patch.dict(os.environ, {"GRAPHVEIL_STATE": memory}))
        for module in ("store", "committed"):
            patches.enter_context(mock.patch(f"graphveil.study.{module}.datetime", world))
        patches.enter_context(mock.patch("secrets.token_hex", world.salt))
        patches.enter_context(
            mock.patch.object(ReleaseNoise, "draw", lambda _, law, count: world.draw(law, count))
        )
        yield world
