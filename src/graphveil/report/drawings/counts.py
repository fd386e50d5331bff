"""The upright axis of a drawing: where counts stand, and which of them are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

LINES = 5  # about so many counts are written
PRESSED = 0.7  # below this share of the largest value, small ones need no axis of their own
SHORTENED = 10_000_000  # from here on, counts are written as "12M"
ENDINGS = ((10**12, "T"), (10**9, "G"), (10**6, "M"))


@dataclass(frozen=True)
class Counts:
    """A scale from `low` to `high`, with a line at each multiple of `stride`."""

    low: float
    high: int
    stride: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Counts:
        """The scale on which some values are seen; from 0 on, unless that presses them together."""
        smallest, largest = min(values), max(values)
        if smallest < PRESSED * largest or largest <= 0 or smallest == largest:
            smallest, largest = min(smallest, 0), max(largest, 0)
        stride = _round_stride(max(largest - smallest, 1) / LINES)
        part = stride if smallest >= 0 else stride / 4  # noise below 0 needs no room for more
        low = floor(smallest / part) * part
        high = ceil(largest / stride) * stride
        return cls(low, high if high > low else high + stride, stride)

    def share(self, value: float) -> float:
        """How far up a value stands, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    @property
    def lines(self) -> range:
        """The counts that are written."""
        return range(ceil(self.low / self.stride) * self.stride, self.high + 1, self.stride)

    def written(self, count: int) -> str:
        """A count beside its line."""
        if max(abs(self.low), abs(self.high)) < SHORTENED:
            return f"{count:,}".replace("-", "−")
        size, ending = next(each for each in ENDINGS if self.stride >= each[0] or each[0] == 10**6)
        return f"{count / size:,.12g}{ending if count else ''}".replace("-", "−")


def _round_stride(wanted: float) -> int:
    """The first of 1, 2, 5, 10, 20, … that is at least as large."""
    power = 1
    while power * 10 < wanted:
        power *= 10
    return next(power * step for step in (1, 2, 5, 10) if power * step >= wanted)
