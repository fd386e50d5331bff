"""Conditions that records have to meet: `age>=18`, or a distance up to which people are linked.

A condition looks at one record at a time: whether it is selected depends on that record alone. A
list of pairs with distances is no list of links: which pairs are links is the steward's word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.intake.records import Violation
from graphveil.hints import Hint
from graphveil.records.columns import bare, listed

if TYPE_CHECKING:
    import polars as pl

Kind: TypeAlias = Literal["nodes", "edges"]
_FORM = re.compile(r"(?:(nodes|edges):)?\s*([^<>=!]+?)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}){1,2}")
_OR = "|"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
NO_DISTANCE = "none"  # what a steward says if every row is a link
TN93, SNPS = "tn93", "snps"
_NAMES = {
    "distance": None, "dist": None, "length": None, "geneticdistance": None, "gendist": None,
    "pairwisedistance": None, "tn93": TN93, "tn93distance": TN93, "snps": SNPS, "snp": SNPS,
    "snpdistance": SNPS, "snpsdistance": SNPS, "snpdist": SNPS, "hamming": SNPS,
    "hammingdistance": SNPS,
}  # fmt: skip
_DISTANCE_FORM = re.compile(r"\s*([0-9.eE+-]+)\s*([A-Za-z][\w/ ]*)?\s*")
_UNITS = {"tn93": TN93, "substitutionssite": TN93, "snps": SNPS, "snp": SNPS, "hamming": SNPS}


@dataclass(frozen=True)
class Filter:
    """One condition.

    Attributes:
        kind: which tables it is for; None for those that have the column.
        column: the user's name of it.
        comparison: `=`, `!=`, `<`, `<=`, `>` or `>=`.
        value: what is compared with; for `=` and `!=` several may stand between bars.
    """

    kind: Kind | None
    column: str
    comparison: str
    value: str

    @classmethod
    def of(cls, text: str) -> Filter:
        """The condition that a text says, or a refusal."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ParameterError(
                "where",
                f"cannot be understood: '{text[:40]}'",
                hint='Write "column=value", with =, !=, <, <=, > or >=; "column=a|b" allows both.',
            )
        kind, column, comparison, value = match.groups()
        made = cls(_kind(kind), column, comparison, value)
        if comparison not in ("=", "!=") and not (made.number is not None or _DATE.match(value)):
            raise ParameterError(
                "where",
                f"'{comparison}' needs a number or a date such as 2014-03-31, not '{value[:30]}'",
            )
        return made

    @property
    def number(self) -> Decimal | None:
        """The value as a number, if it is one."""
        return number_of(self.value)

    @property
    def text(self) -> str:
        """The condition as one would say it, for tables of its kind alone where it has one."""
        prefix = f"{self.kind}:" if self.kind else ""
        return f"{prefix}{self.column}{self.comparison}{self.value}"

    def kept(self, values: pl.Series, column: str) -> tuple[pl.Series, list[Violation]]:
        """Which rows meet the condition, and those of which nobody can tell.

        Args:
            values: what the rows say; nothing is the same as an empty cell.
            column: what faults call it.
        """
        import polars as pl

        texts = values.cast(pl.String).fill_null("").str.strip_chars()
        if self.comparison in ("=", "!="):
            among = _among(texts, [each.strip() for each in self.value.split(_OR)])
            return (among if self.comparison == "=" else ~among), []
        if self.number is None:
            return self._compared(texts, pl.lit(self.value), texts, r"^[0-9]{4}-[0-9]{2}", column)
        numbers = texts.cast(pl.Float64, strict=False)
        return self._compared(numbers, pl.lit(float(self.number)), texts, NUMBER, column)

    def _compared(
        self, left: pl.Series, right: pl.Expr, texts: pl.Series, shape: str, column: str
    ) -> tuple[pl.Series, list[Violation]]:
        import polars as pl

        name = "value"
        met = {
            "<": pl.col(name) < right,
            "<=": pl.col(name) <= right,
            ">": pl.col(name) > right,
            ">=": pl.col(name) >= right,
        }[self.comparison]
        selected = left.alias(name).to_frame().select(met).to_series().fill_null(False)
        unclear = ~texts.str.contains(shape) & (texts != "")
        if not unclear.any():
            return selected & (texts != ""), []
        rule = f"the value cannot be compared, as the condition on '{self.column}' asks"
        hint = "Correct it, or empty the cell: empty ones do not meet the condition."
        return (selected & (texts != "")) | unclear, [Violation.where(unclear, column, rule, hint)]


def number_of(text: str) -> Decimal | None:
    """A text as the number that it writes, or None."""
    if not re.match(NUMBER, text.strip()):
        return None
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def _kind(text: str | None) -> Kind | None:
    return "nodes" if text == "nodes" else "edges" if text == "edges" else None


def _among(texts: pl.Series, values: list[str]) -> pl.Series:
    """Rows that say one of the values: as text without regard to case, or as the same number."""
    import polars as pl

    equal = texts.str.to_lowercase().is_in([value.lower() for value in values])
    numbers = [float(number) for value in values if (number := number_of(value)) is not None]
    if numbers:
        written = texts.str.contains(NUMBER)
        equal |= written & texts.cast(pl.Float64, strict=False).is_in(numbers).fill_null(False)
    return equal


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
        match = _DISTANCE_FORM.fullmatch(text)
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
