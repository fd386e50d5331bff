"""A table of ids that is searched where it lies, at the cost of what is asked for.

`identity.IdIndex` is made for one run, from all ids. This one is stored between commands: ids and
slots are columns that may be mapped from a file. Two ids are the same here as there: whole numbers
of 64 bits that are equal, or texts of the same bytes.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.graph.columns import Column
from graphveil.graph.intake.identity import UNKNOWN, IdIndex, TextBytes, pieces_of
from graphveil.threads import in_threads

Int32s = NDArray[np.int32]
Places = NDArray[np.int64]
NO_PLACES: Places = np.empty(0, np.int64)


class Entered(NamedTuple):
    """In which slots ids were entered, and whether two of them may be the same."""

    places: Places
    maybe_alike: bool


@dataclass(frozen=True, eq=False)
class Numbers:
    """Ids that are whole numbers, by label."""

    column: Column[np.int64]

    @classmethod
    def of(cls, ids: pl.Series) -> Numbers:
        """Those of a series."""
        return cls(Column.of(ids.to_numpy()))

    def __len__(self) -> int:
        return len(self.column)

    def extended(self, extra: pl.Series) -> Numbers:
        """These and more."""
        return Numbers(self.column.extended(extra.to_numpy()))

    def series(self) -> pl.Series:
        """All of them; nothing is copied."""
        return pl.Series("id", self.column.values)

    def find(self, asked: Numbers, slots: Int32s, seed: int) -> Int32s:
        """The label of each, or UNKNOWN."""
        from graphveil.graph.intake.kernels import find_numbers

        labels = np.empty(len(asked), np.int32)
        find_numbers(asked.column.values, self.column.values, slots, seed, labels)
        return labels

    def enter(self, first: int, slots: Int32s, seed: int) -> Entered:
        """Enter those from a label on."""
        from graphveil.graph.intake.kernels import enter_numbers

        places = np.empty(len(self) - first, np.int64)
        return Entered(places, enter_numbers(first, self.column.values, slots, seed, places))


@dataclass(frozen=True, eq=False)
class Texts:
    """Ids that are text, by label: where each ends, from 0 on, and the bytes of all."""

    ends: Column[np.int64]
    content: Column[np.uint8]

    @classmethod
    def of(cls, ids: pl.Series) -> Texts:
        """Those of a series."""
        return cls(Column.of(np.zeros(1, np.int64)), Column.of(np.empty(0, np.uint8))).extended(ids)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def extended(self, extra: pl.Series) -> Texts:
        """These and more."""
        if not len(extra):
            return self
        ends, content = TextBytes.of(extra)
        return Texts(
            self.ends.extended(ends[1:] + len(self.content)), self.content.extended(content)
        )

    def series(self) -> pl.Series:
        """All of them, made anew."""
        return self.slice(0, len(self))

    @property
    def dtype(self) -> pl.DataType:
        """That of the series."""
        return pl.String()

    def head(self, count: int) -> Texts:
        """The first of them; nothing is copied."""
        ends = self.ends.first(count + 1)
        return Texts(ends, self.content.first(int(ends.values[-1])))

    def slice(self, first: int, count: int) -> pl.Series:
        """Some of them."""
        ends = self.ends.values[first : first + count + 1].tolist()
        raw = self.content.values[ends[0] : ends[-1]].tobytes()
        places = ((start - ends[0], stop - ends[0]) for start, stop in pairwise(ends))
        texts = [raw[start:stop].decode() for start, stop in places]
        return pl.Series("id", texts, dtype=pl.String)

    def find(self, asked: pl.Series, slots: Int32s, seed: int) -> Int32s:
        """The label of each, or UNKNOWN."""
        from graphveil.graph.intake.kernels import find_texts

        labels = np.empty(len(asked), np.int32)
        ends, content = self.ends.values, self.content.values

        def find(first: int, piece: pl.Series) -> None:
            hashes, room = np.empty(len(piece), np.uint64), labels[first : first + len(piece)]
            find_texts(*TextBytes.of(piece), ends, content, slots, seed, hashes, room)

        in_threads(find, pieces_of(asked))
        return labels

    def enter(self, first: int, slots: Int32s, seed: int) -> Entered:
        """Enter those from a label on."""
        from graphveil.graph.intake.kernels import enter_texts, hash_texts

        places, hashes = (
            np.empty(len(self) - first, np.int64),
            np.empty(len(self) - first, np.uint64),
        )
        hash_texts(self.ends.values[first:], self.content.values, seed, hashes)
        return Entered(places, enter_texts(first, hashes, slots, places))


IdColumns: TypeAlias = Numbers | Texts


class Slots:
    """Slots that tables share, each of which sees its own labels in them."""

    def __init__(self, places: Int32s, filled: int) -> None:
        self.places = places
        self.filled = filled
        self.lock = Lock()

    def take(self, count: int) -> bool:
        """Whether there is room for so many more; a quarter stays empty, so that searches end."""
        with self.lock:
            fits = 4 * (self.filled + count) <= 3 * len(self.places)
            self.filled += count if fits else 0
        return fits


@dataclass(frozen=True, eq=False)
class IdTable:
    """From ids to labels, as `IdIndex`; extended at the cost of what is new.

    Attributes:
        known: the id of each label.
        slots: where labels are found.
        seed: with which ids are hashed, so that nobody can choose ids that all collide.
        changed: in which slots labels were entered since the table was made or mapped.
        maybe_alike: whether two of the ids with which it was made may be the same.
    """

    known: IdColumns
    slots: Slots
    seed: int
    changed: tuple[Places, ...] = ()
    maybe_alike: bool = True

    @classmethod
    def of(cls, known: IdColumns, spare: int = 2) -> IdTable:
        """A table of ids, whose position is their label; so many times as many would fit, too."""
        places = np.zeros(1 << (2 * spare * len(known) + 1024).bit_length(), np.int32)
        seed = secrets.randbits(56)
        entered = known.enter(0, places, seed)
        slots = Slots(places, len(known))
        return cls(known, slots, seed, maybe_alike=entered.maybe_alike)

    @classmethod
    def for_now(cls, ids: pl.Series) -> IdTable:
        """A table of ids that nobody will extend."""
        return cls.of(Numbers.of(ids) if ids.dtype == pl.Int64 else Texts.of(ids), spare=1)

    @property
    def all_changed(self) -> Places:
        """The slots that were changed."""
        return np.concatenate(self.changed) if self.changed else NO_PLACES

    @property
    def ids(self) -> Ids:
        """The id of each label."""
        return self.known if isinstance(self.known, Texts) else self.known.series()

    def extended(self, extra: pl.Series) -> IdTable | IdIndex:
        """The table with `extra` appended; costs as much as what is new, if it can."""
        if isinstance(self.known, Texts):
            longer: IdColumns = self.known.extended(extra.cast(pl.String))
        elif extra.dtype == pl.Int64:
            longer = self.known.extended(extra)
        else:  # all become text
            return IdIndex.of(self.known.series()).extended(extra)
        if not self.slots.take(len(extra)):
            return IdTable.of(longer)
        entered = longer.enter(len(self.known), self.slots.places, self.seed)
        return replace(self, known=longer, changed=(*self.changed, entered.places))

    def labels(self, ids: pl.Series) -> Int32s:
        """The label of each id, or UNKNOWN."""
        where = self.slots.places, self.seed
        if isinstance(self.known, Texts):
            return self.known.find(ids.cast(pl.String), *where)
        if ids.dtype == pl.Int64:
            return self.known.find(Numbers.of(ids), *where)
        numbers = ids.cast(pl.Int64, strict=False)
        same = (numbers.cast(pl.String) == ids).fill_null(False)
        labels = np.full(len(ids), UNKNOWN, np.int32)
        labels[same.to_numpy()] = self.known.find(Numbers.of(numbers.filter(same)), *where)
        return labels


Index: TypeAlias = IdIndex | IdTable
Ids: TypeAlias = "pl.Series | Texts"


def as_series(ids: Ids) -> pl.Series:
    """All ids as a series."""
    return ids.series() if isinstance(ids, Texts) else ids
