"""Identity: when two ids mean the same person, and which label a person has.

Ids are compared by their text: 7 and "7" are one person, 7 and "07" are two. Surrounding blanks
and characters that show nothing are removed, and letters with accents are composed (NFC), so that
two ids are one exactly if they are spelled alike; an id with a line break or another control
character is refused. What becomes of an id depends on that id alone. Where every id is a plain
whole number, the column is stored as 64-bit integers, which is only a compact form of the same
text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table, Violation
from graphveil.threads import in_threads

if TYPE_CHECKING:
    from graphveil.graph.intake.id_table import IdTable


# Columns of text as bytes: what compiled loops work on.


PIECE = 1 << 16  # texts that one thread works on at a time


class TextBytes(NamedTuple):
    """The bytes of all texts, one after the other.

    Attributes:
        ends: (texts + 1,) where each ends, and so the next begins, from 0 on.
        content: the bytes.
    """

    ends: NDArray[np.int64]
    content: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: pl.Series) -> TextBytes:
        """Those of a column in which nothing is missing."""
        lists = texts.cast(pl.Binary).cast(pl.List(pl.UInt8))
        lengths = lists.list.len()
        ends = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(lengths.to_numpy(), out=ends[1:])
        filled = lists if (lengths > 0).all() else lists.filter(lengths > 0)
        content = filled.explode() if len(filled) else pl.Series([], dtype=pl.UInt8)
        return cls(ends, content.to_numpy())


def pieces_of(texts: pl.Series) -> list[tuple[int, pl.Series]]:
    """A column in pieces, each with its first row: their bytes stay in the cache."""
    return [(first, texts.slice(first, PIECE)) for first in range(0, len(texts), PIECE)]


_PLAIN_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"  # that surely fits into 64 bits
_UNUSUAL = r"[^ -~]"  # whatever is not printable ASCII
_INVISIBLE = r"[[\p{Cf}\p{Default_Ignorable_Code_Point}]--\p{Prepended_Concatenation_Mark}]"
_CONTROL = r"[\p{Cc}\p{Zl}\p{Zp}]"
MOST_ID_BYTES = 1000
NOT_WHOLE = "an id is a number that is not whole, or too large to be exact"
STORE_AS = "Store ids as text or as whole numbers."
_SHOWN = 60  # characters of a type that a message repeats
UNKNOWN = -1
_PIECE = 1 << 20  # ids that one thread looks up at a time
_WORTH_A_LOOK = 1 << 16  # ids of a column


class Ids(NamedTuple):
    """A cleaned column of ids: 64-bit integers or text, nothing missing.

    Attributes:
        column: the ids.
        trimmed: how many had blanks around them.
        respelled: how many had characters that show nothing, or letters in parts.
    """

    column: pl.Series
    trimmed: int
    respelled: int


def clean_ids(table: Table, column: str) -> Ids:
    """Bring a column of ids into one of its two forms; refuse rows without a proper id."""
    ids = integers_or_text(table, column)
    if ids.dtype != pl.String:
        refuse_missing(table, column, ids.is_null())
        return Ids(ids, 0, 0)
    if _is_clean(ids):
        return Ids(ids, 0, 0)
    spelled = spelled_alike(ids)
    bare = spelled.str.strip_chars()
    refuse_missing(table, column, bare.is_null() | (bare == ""))
    _refuse_long(table, column, bare)
    trimmed, respelled = int((bare != spelled).sum()), 0
    if spelled is not ids:
        _refuse_control(table, column, bare)
        respelled = int((spelled != ids).sum())
    return Ids(shortest_form(bare), trimmed, respelled)


def _is_clean(ids: pl.Series) -> bool:
    """Whether a long column of text is surely what cleaning would make of it.

    A look at its bytes takes a tenth of the time. Of short ones cleaning takes none.
    """
    if len(ids) < _WORTH_A_LOOK or ids.null_count():
        return False
    from graphveil.graph.intake.kernels import are_tidy

    def look(first: int, piece: pl.Series) -> tuple[bool, bool]:
        return are_tidy(*TextBytes.of(piece), MOST_ID_BYTES)

    tidy, unlike_number = zip(*in_threads(look, pieces_of(ids)), strict=True)
    return all(tidy) and any(unlike_number)


def spelled_alike(ids: pl.Series) -> pl.Series:
    """Text in which what looks the same is the same: nothing invisible, letters composed.

    Printable ASCII is so already: the very same column is given back.
    """
    unusual = ids.str.contains(_UNUSUAL).fill_null(False)
    if not unusual.any():
        return ids
    alike = ids.filter(unusual).str.replace_all(_INVISIBLE, "").str.normalize("NFC")
    return ids.clone().scatter(unusual.arg_true(), alike)


def look_alikes(ids: pl.Series, among: pl.Series) -> int:
    """How many ids look like another one in a column, such as Ann and ann; these are two people.

    Args:
        ids: those that are asked about.
        among: all of them, once each.
    """
    if among.dtype == pl.Int64 or not len(ids):
        return 0
    found = looks(among)
    if found.n_unique() == len(found):
        return 0
    shared = found.filter(found.is_duplicated())
    return int(looks(ids.cast(pl.String).unique()).is_in(shared.unique().implode()).sum())


def looks(ids: pl.Series) -> pl.Series:
    """What a hasty reader sees: no letter case, no fancy forms of letters and blanks."""
    return ids.str.normalize("NFKC").str.to_lowercase()


def _refuse_long(table: Table, column: str, ids: pl.Series) -> None:
    lengths = ids.str.len_bytes()
    if len(ids) and int(lengths.max()) > MOST_ID_BYTES:  # type: ignore[arg-type]
        rule = f"the id is longer than {MOST_ID_BYTES:,} bytes"
        hint = "Correct it; lines may have been joined."
        raise table.refusal(Violation.where(lengths > MOST_ID_BYTES, column, rule, hint))


def _refuse_control(table: Table, column: str, ids: pl.Series) -> None:
    control = ids.str.contains(_CONTROL)
    if control.any():
        rule = "the id holds a line break, a tab or another control character"
        hint = "Remove it; a quote that is never closed may have joined two lines."
        raise table.refusal(Violation.where(control, column, rule, hint))


def integers_or_text(table: Table, column: str) -> pl.Series:
    """A column of ids in one of its two forms, as it is spelled; refuses what can be no id."""
    raw = table.frame[column]
    require_id_type(raw.dtype, Place(table.source, column=table.names.get(column, column)))
    if raw.dtype == pl.Int64:
        return raw
    if raw.dtype.is_integer():
        return raw.cast(pl.Int64, strict=False) if _fits(raw) else raw.cast(pl.String)
    if raw.dtype.is_float():
        return _whole_numbers(table, column, raw)
    if raw.dtype.is_decimal():
        return _whole_decimals(table, column, raw)
    if raw.dtype == pl.Object:
        return pl.Series(raw.name, [None if x is None else str(x) for x in raw], dtype=pl.String)
    return raw.cast(pl.String)


def require_id_type(kind: pl.DataType, place: Place) -> None:
    """Refuse a column whose type holds neither text nor numbers."""
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Object, pl.Null)
    if not kind.is_numeric() and not isinstance(kind, texts):
        raise InputError(
            f"the column has the type {str(kind)[:_SHOWN]}, which holds no ids",
            place=place,
            hint=STORE_AS,
        )


def _fits(raw: pl.Series) -> bool:
    least, most = raw.min(), raw.max()
    return most is None or (int(least) >= -(2**63) and int(most) < 2**63)  # type: ignore[arg-type]


def _whole_decimals(table: Table, column: str, raw: pl.Series) -> pl.Series:
    """Databases hand out whole numbers as decimals; the text of 7.00 is 7."""
    text = raw.cast(pl.String).str.replace(r"\.0*$", "")
    broken = text.str.contains(".", literal=True)
    if broken.any():
        raise table.refusal(Violation.where(broken, column, NOT_WHOLE, STORE_AS))
    return text


def _whole_numbers(table: Table, column: str, raw: pl.Series) -> pl.Series:
    """Frames turn integers with gaps into floats; take back what is still exact."""
    numbers = raw.fill_nan(None)
    broken = (numbers.floor() != numbers) | (numbers.abs() >= 2**53)
    if broken.any():
        raise table.refusal(Violation.where(broken, column, NOT_WHOLE, STORE_AS))
    return numbers.cast(pl.Int64)


def refuse_missing(table: Table, column: str, missing: pl.Series) -> None:
    """Refuse the rows that are marked as having no id."""
    if missing.any():
        hint = "Give every row an id, or remove the row."
        raise table.refusal(Violation.where(missing, column, "the id is missing", hint))


def shortest_form(text: pl.Series) -> pl.Series:
    """Integers where all of the text is plain whole numbers."""
    return text.cast(pl.Int64) if text.str.contains(_PLAIN_NUMBER).all() else text


def same_form(*columns: pl.Series) -> list[pl.Series]:
    """Columns that can be compared: all integers, or all text."""
    if all(column.dtype == pl.Int64 for column in columns):
        return list(columns)
    return [column.cast(pl.String) for column in columns]


def identity_order(ids: pl.Series, steps: NDArray[np.int32]) -> NDArray[np.int64]:
    """Rows by step, then by identity: whole numbers of any length by value, then other text.

    The order of two ids depends on nothing but themselves, not even on the form of their
    column, so that a sequence gets the same labels whatever other ids it holds.
    """
    if ids.dtype != pl.Int64:
        from graphveil.graph.intake.text_order import text_order

        return text_order(ids, steps)
    frame = pl.DataFrame({"step": steps, "id": ids})
    order = frame.select(pl.arg_sort_by(["step", "id"])).to_series()
    return order.to_numpy().astype(np.int64)


class LookUp:
    """Labels by direct look-up; shared by successive indexes, each of which sees a prefix."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.labels = np.full((high - low) + (high - low) // 8 + 1024, UNKNOWN, dtype=np.int32)
        self.known = 0
        self.lock = Lock()

    @classmethod
    def around(cls, ids: pl.Series) -> LookUp | None:
        """An empty table with a place for each of these; None where they do not admit one."""
        if ids.dtype != pl.Int64 or not len(ids):
            return None
        low, high = int(ids.min()), int(ids.max())  # type: ignore[arg-type]
        return cls(low, high) if high - low < 4 * len(ids) + 2**20 else None


@dataclass(frozen=True, eq=False)
class IdIndex:
    """From ids to labels. Integers in a narrow range by look-up, all else by their hashes.

    Attributes:
        ids: the id of each label.
        table: the look-up table, where the ids admit one.
    """

    ids: pl.Series
    table: LookUp | None

    @classmethod
    def of(cls, ids: pl.Series) -> IdIndex:
        """An index of `ids`, whose position is their label."""
        table = LookUp.around(ids)
        if table is not None:
            _enter(table, ids, 0)
        return cls(ids, table)

    def extended(self, extra: pl.Series) -> IdIndex:
        """The index with `extra` appended; costs as much as what is new, if it can."""
        old, new = same_form(self.ids, extra)
        ids = old.append(new) if old is not self.ids else old.clone().append(new)
        table = self.table
        if table is None or old is not self.ids or not _covers(table, extra):
            return IdIndex.of(ids)
        with table.lock:
            if table.known != len(self.ids):  # another extension was here first
                return IdIndex.of(ids)
            _enter(table, extra, len(self.ids))
        return IdIndex(ids, table)

    def labels(self, ids: pl.Series) -> NDArray[np.int32]:
        """The label of each id, or UNKNOWN."""
        if not len(self.ids) or not len(ids):
            return np.full(len(ids), UNKNOWN, dtype=np.int32)
        if self.table is not None and ids.dtype == pl.Int64:
            return _look_up(self.table, ids, len(self.ids))
        return self._hashed.labels(ids)

    def are_distinct(self) -> bool:
        """Whether every id has one label."""
        if self.table is None and not self._hashed.maybe_alike:
            return True
        return np.array_equal(self.labels(self.ids), np.arange(len(self.ids)))

    @cached_property
    def _hashed(self) -> IdTable:
        """The same in a form that finds any ids."""
        from graphveil.graph.intake.id_table import IdTable

        return IdTable.for_now(self.ids)


def _covers(table: LookUp, extra: pl.Series) -> bool:
    if not len(extra):
        return True
    low, high = int(extra.min()), int(extra.max())  # type: ignore[arg-type]
    return table.low <= low and high - table.low < len(table.labels)


def _enter(table: LookUp, ids: pl.Series, first: int) -> None:
    labels = np.arange(first, first + len(ids), dtype=np.int32)
    table.labels[ids.to_numpy() - table.low] = labels
    table.known = first + len(ids)


def _look_up(table: LookUp, ids: pl.Series, known: int) -> NDArray[np.int32]:
    """Chunk by chunk: columns read from files come in pieces, and copying costs memory."""
    from graphveil.graph.intake.kernels import look_up

    labels = np.empty(len(ids), dtype=np.int32)
    pieces, start = [], 0
    for chunk in ids.get_chunks():
        values = chunk.to_numpy()
        for cut in range(0, len(values), _PIECE):
            piece = values[cut : cut + _PIECE]
            room = labels[start : start + len(piece)]
            pieces.append((piece, table.low, table.labels, known, room))
            start += len(piece)
    in_threads(look_up, pieces)
    return labels
