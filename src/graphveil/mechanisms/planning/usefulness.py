"""Usefulness: whether noise leaves a number of the expected size useful, rough or too noisy.

The one place that says what these words mean. They follow from the predicted noise and from a
public guess of how large the number will be, never from the number itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graphveil.errors import ParameterError

SMALL = 0.10  # noise of up to this part of the expected size leaves the number useful
MOST_NOISE = 0.25  # with noise of more than this part, the number is too noisy
LARGEST = 10**15  # that anybody may expect: larger than any number of links of people


class Usefulness(StrEnum):
    """What noise leaves of a number."""

    USEFUL = "useful"
    ROUGH = "rough"
    TOO_NOISY = "drowned"  # as it is stored

    @property
    def in_words(self) -> str:
        """As it is said to people."""
        return "too noisy" if self is Usefulness.TOO_NOISY else self.value


@dataclass(frozen=True)
class Judgement:
    """The predicted error of a number, beside the size that is expected of it.

    Attributes:
        std: the predicted standard deviation of the noise.
        expected: a public guess of how large the number will be at the last release.
    """

    std: float
    expected: int

    def __post_init__(self) -> None:
        size = self.expected
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST:
            raise ParameterError("expected", "must be a whole number of at least 1, up to 10^15")

    @property
    def share(self) -> float:
        """The noise as a part of the expected size."""
        return self.std / self.expected

    @property
    def word(self) -> Usefulness:
        """Useful up to a tenth, rough up to a quarter, else too noisy."""
        if self.share <= SMALL:
            return Usefulness.USEFUL
        return Usefulness.ROUGH if self.share <= MOST_NOISE else Usefulness.TOO_NOISY

    @property
    def too_noisy(self) -> bool:
        """Whether the number is too noisy to be useful."""
        return self.word is Usefulness.TOO_NOISY

    def __str__(self) -> str:
        return (
            f"expected about {self.expected:,}; predicted error ±{rounded(self.std)} "
            f"({percent(self.share)}): {self.word.in_words}"
        )


def rounded(number: float) -> str:
    """As many digits as mean anything to a reader."""
    return f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"


def percent(share: float) -> str:
    """A part in percent: two digits where it is small."""
    return f"{share:.1%}" if share < 0.1 else f"{share:,.0%}"
