"""Forecasts: the predicted noise of a series around the curve that its steward expects.

Nobody knows the curve. What is drawn is the plainest that leads to the size which was stated: as
many more with every step, and level once people leave a window as fast as they come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.steward.beforehand.outlook import Outlook

MOST_DRAWN = 400  # releases: more than a picture has room for


@dataclass(frozen=True)
class Forecast:
    """What the steward expects of a series, release by release.

    Attributes:
        curve: the expected sizes.
        noise: the predicted standard deviations.
        drowned: where the noise drowns what is expected.
    """

    curve: tuple[float, ...]
    noise: tuple[float, ...]
    drowned: tuple[bool, ...]

    @property
    def first_clear(self) -> int | None:
        """The release from which on the noise drowns nothing; None if it always does."""
        last = max((place for place, bad in enumerate(self.drowned) if bad), default=-1)
        return last + 1 if last + 1 < len(self.drowned) else None


def forecast(outlook: Outlook) -> Forecast | None:
    """The forecast of a series; None where no size is expected."""
    from graphveil.planning.usefulness import DROWNING

    size = outlook.series.expected
    if size is None:
        return None
    noise = outlook.plan.predicted[:MOST_DRAWN]
    window = outlook.series.counted().counted_for or len(outlook.plan.predicted)
    curve = tuple(size * min(place + 1, window) / window for place in range(len(noise)))
    drowned = tuple(std > DROWNING * there for std, there in zip(noise, curve, strict=True))
    return Forecast(curve, noise, drowned)
