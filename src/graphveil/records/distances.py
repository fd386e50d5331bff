"""Distances between people: a list of pairs that has them is no list of links.

Which pairs are links is the steward's word: up to which distance. A pair is judged by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from graphveil.errors import InputError, ParameterError, Place
from graphveil.hints import Hint
from graphveil.records.columns import bare, listed
from graphveil.records.filters import NUMBER, number_of

NO_DISTANCE = "none"  # what a steward says if every row is a link
TN93, SNPS = "tn93", "snps"
_NAMES = {
    "distance": None, "dist": None, "length": None, "geneticdistance": None, "gendist": None,
    "pairwisedistance": None, "tn93": TN93, "tn93distance": TN93, "snps": SNPS, "snp": SNPS,
    "snpdistance": SNPS, "snpsdistance": SNPS, "snpdist": SNPS, "hamming": SNPS,
    "hammingdistance": SNPS,
}  # fmt: skip
_FORM = re.compile(r"\s*([0-9.eE+-]+)\s*([A-Za-z][\w/ ]*)?\s*")
_UNITS = {"tn93": TN93, "substitutionssite": TN93, "snps": SNPS, "snp": SNPS, "hamming": SNPS}


@dataclass(frozen=True)
class Threshold:
    """Up to which distance two people are linked.

    Attributes:
        most: the largest distance of a link.
        unit: in which it is counted, if given.
    """

    most: Decimal
    unit: str | None = None

    @classmethod
    def of(cls, text: str) -> Threshold:
        """The threshold that a text says: a number, and a unit if there is one."""
        match = _FORM.fullmatch(text)
        most = number_of(match[1]) if match else None
        if match is None or most is None or most < 0:
            raise ParameterError(
                "max_distance", f"must be a number, also with a unit, not '{text[:30]}'",
                hint=Hint("usual-distance"),
            )  # fmt: skip
        unit = match[2] and _UNITS.get(bare(match[2]), match[2].strip().lower())
        return cls(most, unit)

    def __str__(self) -> str:
        return f"{self.most.normalize():f}" + (f" {self.unit}" if self.unit else "")

    def agrees(self, other: Threshold) -> bool:
        """Whether another one is the same, as far as both say their unit."""
        units = {self.unit, other.unit} - {None}
        return self.most == other.most and len(units) < 2

    def in_unit_of(self, column: str, place: Place) -> Threshold:
        """The threshold for a column; refuses one whose name says another unit."""
        unit = unit_of(column)
        if unit and self.unit and unit != self.unit:
            raise InputError(
                f"the distances are counted in {unit}, and the threshold in {self.unit}",
                place=place,
                hint=Hint("other-distance"),
            )
        return Threshold(self.most, self.unit or unit)


def unit_of(column: str) -> str | None:
    """What a column of distances counts in, if its name says so."""
    return _NAMES.get(bare(column))


def distance_columns(names: Sequence[str]) -> list[str]:
    """The columns whose names say that they hold distances."""
    return [name for name in names if bare(name) in _NAMES]


def distance_column(
    names: Sequence[str], named: str | None, threshold: Threshold | None, source: str
) -> str | None:
    """The column of distances that decides which pairs are links; None if every row is one.

    Args:
        names: what the table has.
        named: the column that the steward names, or "none".
        threshold: up to which distance pairs are links, if given.
        source: what messages call the table.
    """
    if named is not None and bare(named) == NO_DISTANCE:
        return None
    chosen = [name for name in names if named is not None and bare(name) == bare(named)]
    candidates = chosen or distance_columns(names)
    if not candidates:
        return None
    if len(candidates) > 1 or (named is not None and not chosen):
        raise InputError(
            f"which column is the distance: {listed(candidates)}",
            place=Place(source),
            hint=Hint("which-distance"),
        )
    if threshold is None:
        raise unsaid(Place(source, column=candidates[0]))
    return candidates[0]


def unsaid(place: Place) -> InputError:
    """The refusal of distances without a word on which of them make a link."""
    return InputError(
        "these are distances, so not every pair is a link",
        place=place,
        hint=Hint("unsaid-distance"),
    )


SHAPE = NUMBER
