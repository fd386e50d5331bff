"""What a steward may tell the readers besides the files themselves.

Among it are conditions, such as `age>=18`, and a distance up to which people are linked: a list of
pairs with distances is no list of links. A condition looks at one record at a time: whether it is
selected depends on that record alone.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from graphveil.deferred import pl
from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.intake.records import Violation
from graphveil.hints import Hint
from graphveil.records.columns import bare, listed

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
Undated: TypeAlias = Literal["refuse", "first", "drop"]
UNDATED: tuple[str, ...] = get_args(Undated)
GIB = 1 << 30
_SIZE = re.compile(r"([0-9]{1,12})\s*([KMGT]?)(i?)B?", re.IGNORECASE)
MOST_TABLE_BYTES = 4 * GIB
MOST_DOCUMENT_BYTES = GIB // 4
MOST_OBJECT_BYTES = 2 * GIB
NO_LABELS = "none"  # instead of the column of a group: nobody is labelled
_SAMPLE = "node,time\n"
_ID_FIELD = re.compile(r"(\D+?)(-?[1-9][0-9]?)")
_NO_ENCODINGS = ("idna", "punycode")
OBJECTS_A_BYTE = 8  # of memory, for each byte of a limit that the user sets
MOST_NESTING = 64


@dataclass(frozen=True)
class IdField:
    """Where ids have their date: in the field of this number, between marks such as `|`.

    Fields are counted from 1; from the end, the last is -1.
    """

    mark: str
    number: int

    @classmethod
    def of(cls, text: str) -> IdField:
        """The field that a text such as `|2` says, or a refusal."""
        match = _ID_FIELD.fullmatch(text.strip())
        if match is None:
            raise ParameterError(
                "time_from_id",
                f"cannot be understood: '{text[:20]}'",
                hint="Write the mark between fields, then the number of the field with the date: "
                "|2 for A17|2014-03-02|x, or |-1 for the last.",
            )
        return cls(match[1], int(match[2]))


@dataclass(frozen=True)
class ReadingOptions:
    """How to read files.

    Attributes:
        time: the column, field or attribute that holds a node's date; None takes the one
            that the format itself has. Of several, with commas between them, the first that
            says something counts, record by record.
        edge_time: the same as `time` for the date of an edge.
        id: the column that names a person, where it is not called as a format calls it.
        source: the column that names one end of a link.
        target: the column that names the other end.
        distance: the column that says how far two people are apart, or "none" if every row is
            a link, whatever the columns are called.
        max_distance: up to which distance two people are linked, such as "0.015" or "12 snps".
        group: which column has the label of a person in a group, such as "region=County"; or
            "region=none" if these files have no labels.
        where: conditions such as "Node type=Person" that records have to meet.
        day_first: whether 7/8/2021 is the 7th of August; False if it is July 8th; None if
            nobody said, and then such dates are refused.
        excel_dates: whether plain numbers are days as Excel counts them.
        undated: what becomes of nodes without a date: "refuse", "first" or "drop"; None leaves
            it to the study.
        encoding: of text that is neither UTF-8 nor says what it is.
        all_listed: whether HIV-TRACE results that have no list of `Singletons` list everybody
            all the same, also people without a link.
        most_bytes: the largest file to read, compressed or not; None takes 4 GiB for tables
            and 256 MiB for JSON and GraphML.
        most_nesting: how deep JSON and XML may be nested.
        mark_bad: whether rows that break a rule are passed on, marked as such, so that the
            caller can leave them out; else the first of them refuses the files.
        time_from_id: where ids have the date of a node, such as "|2": the mark between the fields
            of an id, and the number of the one with the date; "|-1" is the last.

    Examples:
        >>> ReadingOptions(time="diagnosed", day_first=True).time
        'diagnosed'
    """

    time: str | None = None
    edge_time: str | None = None
    id: str | None = None
    source: str | None = None
    target: str | None = None
    distance: str | None = None
    max_distance: str | None = None
    where: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    day_first: bool | None = None
    excel_dates: bool = False
    undated: Undated | None = None
    encoding: str | None = None
    all_listed: bool = False
    most_bytes: int | None = None
    most_nesting: int = MOST_NESTING
    mark_bad: bool = False
    time_from_id: str | None = None

    def __post_init__(self) -> None:
        for name in ("id", "source", "target", "time", "edge_time", "distance"):
            if getattr(self, name) is not None and not getattr(self, name).strip():
                raise ParameterError(name, "must name a column, or be left out")
        if self.time_from_id is not None and self.time is not None:
            raise ParameterError("time_from_id", "cannot be said together with a column")
        if self.undated not in (None, *UNDATED):
            raise ParameterError("undated", f"must be {', '.join(UNDATED)}")
        _ = (
            self.filters,
            self.threshold,
            self.id_field,
            self.group_columns,
        )  # which refuse what cannot be understood
        if self.encoding is not None:
            _require_encoding(self.encoding)
        if self.most_bytes is not None and self.most_bytes < 1:
            raise ParameterError("most_bytes", "must be at least 1")
        if not 1 <= self.most_nesting <= 500:
            raise ParameterError("most_nesting", "must be from 1 to 500")

    @cached_property
    def filters(self) -> tuple[Filter, ...]:
        """The conditions, as far as anybody said some."""
        return tuple(Filter.of(each) for each in self.where)

    @cached_property
    def group_columns(self) -> dict[str, str]:
        """The column of each group, by the name of the group."""
        pairs = [[part.strip() for part in each.split("=", 1)] for each in self.group]
        if any(len(pair) < 2 or not all(pair) for pair in pairs):
            raise ParameterError(
                "group", "cannot be understood", hint='Write "region=County": a group, its column.'
            )
        if len({name for name, _ in pairs}) < len(pairs):
            raise ParameterError("group", "names the column of a group twice")
        return dict(pairs)

    @property
    def named_groups(self) -> tuple[tuple[str, str], ...]:
        """The groups that have a column, each with it."""
        columns = self.group_columns
        return tuple((name, column) for name, column in columns.items() if column != NO_LABELS)

    @cached_property
    def id_field(self) -> IdField | None:
        """Where ids have their date, if anybody said so."""
        return None if self.time_from_id is None else IdField.of(self.time_from_id)

    @cached_property
    def threshold(self) -> Threshold | None:
        """Up to which distance people are linked, if anybody said so."""
        return None if self.max_distance is None else Threshold.of(self.max_distance)

    @property
    def table_bytes(self) -> int:
        """The largest table to read."""
        return MOST_TABLE_BYTES if self.most_bytes is None else self.most_bytes

    @property
    def document_bytes(self) -> int:
        """The largest JSON or GraphML document to read."""
        return MOST_DOCUMENT_BYTES if self.most_bytes is None else self.most_bytes

    @property
    def object_bytes(self) -> int:
        """The most memory that documents and tables held by others may take as objects."""
        return max(MOST_OBJECT_BYTES, OBJECTS_A_BYTE * (self.most_bytes or 0))


def _require_encoding(name: str) -> None:
    """Refuse what turns no bytes into text, or not block by block, as some of Python's codecs."""
    try:
        codec = codecs.lookup(name)
        text = codec.incrementaldecoder(errors="strict").decode(_SAMPLE.encode(name), final=True)
    except (LookupError, TypeError, AttributeError, ValueError, AssertionError) as error:
        raise _no_encoding(name) from error
    if text != _SAMPLE or codec.name in _NO_ENCODINGS:
        raise _no_encoding(name)


def _no_encoding(name: str) -> ParameterError:
    shown = name[:30].encode(errors="replace").decode()
    hint = "Such as windows-1252, utf-16 or latin-1."
    return ParameterError("encoding", f"'{shown}' is not known", hint=hint)


def size_of(text: str) -> int:
    """A number of bytes as people write it: 500MB, 2GB, 2GiB or plain digits."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise ParameterError("limit", "must be a size such as 500MB or 2GB")
    thousand = 1024 if match[3] else 1000
    return int(int(match[1]) * thousand ** " KMGT".index(match[2].upper() or " "))


DEFAULTS = ReadingOptions()


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
