"""Conditions that records have to meet, such as `Node type=Person` or `age>=18`.

A condition looks at one record at a time: whether it is selected depends on that record alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphveil.errors import ParameterError
from graphveil.graph.intake.records import Violation

if TYPE_CHECKING:
    import polars as pl

Kind: TypeAlias = Literal["nodes", "edges"]
_FORM = re.compile(r"(?:(nodes|edges):)?\s*([^<>=!]+?)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}){1,2}")
_OR = "|"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"


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
