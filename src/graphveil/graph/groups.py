"""Groups: public lists of labels, and the one small integer that holds all labels of a person.

What a cell of a file says becomes a label by a rule that looks at that cell alone: not at other
rows, at the values that occur, or at the type of a column. What is not on the list is `other`, and
nothing is `unknown`; both are labels like any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from graphveil.deferred import np, pl
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Strata = NDArray[np.int32]

BY = "by"  # the parameter of a statistic that names groups
OTHER, UNKNOWN = "other", "unknown"
MOST_CELLS = 200  # of one series
MOST_STRATA = 2**31 - 1  # what fits into one integer per person
LONGEST_LABEL = 60
SHOWN_LABELS = 5  # that are not on a list
SECOND = "_2"  # the column of the other end of a link ends with it
# Columns of the public tables, which a group must not be called after.
RESERVED = frozenset((
    "series", "statistic", "step", "label", "degree", "raw", "processed", "noise_std", "level",
    "low", "high", "new", "new_std", "new_low", "new_high", "epsilon", "delta", "mechanism",
    "threshold", "scaled", "limit", "kind", "over", "value", "revised", "revised_low",
    "revised_high", "revised_at", "trend", "trend_at", "node", "time", "source", "target",
    "group",
))  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*")
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$"
_WHOLE = re.compile(r"^([+-]?[0-9]+)\.0*$")
_WEIGHTED = re.compile(r"(?P<label>.*?)(?:\s*:\s*(?P<weight>[0-9]+))?", re.DOTALL)
_CUTS = re.compile(r"\s*-?[0-9]+(\s*,\s*-?[0-9]+)+\s*")
_HINT = 'Write "region=North|South|East", or cut points of numbers, as "age=0,25,35,50".'


GROUP = "group "  # columns of labels among records begin with it


def column_of(group: str) -> str:
    """What the column of a group is called among records."""
    return f"{GROUP}{group}"


class Unlisted(NamedTuple):
    """What rows say about a group that is not on its list, so that it counts as `other`; a secret.

    Attributes:
        group: its name.
        rows: how many say such a thing.
        texts: the most frequent ones, each with its rows.
    """

    group: str
    rows: int
    texts: tuple[tuple[str, int], ...]

    @classmethod
    def together(cls, parts: Iterable[Unlisted]) -> tuple[Unlisted, ...]:
        """What several parts of the records say, group by group."""
        listed = groupby(sorted(parts), lambda each: each.group)
        return tuple(cls._joined(group, list(own)) for group, own in listed)

    @classmethod
    def _joined(cls, group: str, parts: Sequence[Unlisted]) -> Unlisted:
        rows: Counter[str] = Counter()
        for each in parts:
            rows.update(dict(each.texts))
        most = sorted(rows.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_LABELS]
        return cls(group, sum(each.rows for each in parts), tuple(most))


@dataclass(frozen=True)
class Group:
    """One public list of labels, of which every person has one.

    Attributes:
        name: what it is called.
        labels: the list, without `other` and `unknown`.
        cuts: of a group of numbers, where each label begins.
        same: what files write for a label, each with the label.
        weights: how many people of each label are expected, against the others; a public guess,
            never measured. Empty where nobody guesses.

    Examples:
        >>> Group.of("region=North|South").cells
        ('North', 'South', 'other', 'unknown')
        >>> Group.of("age=0,25,50").labels
        ('0–24', '25–49', '50 and more')
    """

    name: str
    labels: tuple[str, ...]
    cuts: tuple[int, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "same", tuple(sorted(self.same)))
        if not _NAME.fullmatch(self.name) or len(self.name) > LONGEST_LABEL:
            raise self._refused("must be a short name of lower-case letters, digits and single _")
        if self.name in RESERVED:
            raise self._refused("is the name of another column of the public tables")
        self._require_labels()
        if self.weights and (
            len(self.weights) != len(self.labels) or min(self.weights) < 0 or not any(self.weights)
        ):
            raise self._refused("needs one weight for every label, not negative, not all 0")
        for written, label in self.same:
            if label not in self.cells:
                raise self._refused(f"'{written}' stands for '{label}', which is not on the list")

    @classmethod
    def of(cls, text: str) -> Group:
        """The group that a text such as "region=North|South" describes."""
        name, equals, listed = text.partition("=")
        if not equals or not listed.strip():
            raise ParameterError("group", f"cannot be understood: '{text[:40]}'", hint=_HINT)
        if _CUTS.fullmatch(listed):
            return cls.cut(name.strip(), [int(each) for each in listed.split(",")])
        parts = [_WEIGHTED.fullmatch(each.strip()) for each in listed.split("|")]
        labels = tuple(match["label"] for match in parts if match)
        guessed = [match["weight"] for match in parts if match and match["weight"]]
        if guessed and len(guessed) < len(labels):
            raise ParameterError("group", f"{name}: guess a weight of every label, or of none")
        return cls(name.strip(), labels, weights=tuple(map(int, guessed)))

    @classmethod
    def cut(cls, name: str, cuts: Sequence[int], **more: Any) -> Group:
        """The group of a number, by where its labels begin."""
        if not cuts or any(a >= b for a, b in pairwise(cuts)):
            raise ParameterError("group", f"{name}: cut points must rise", hint=_HINT)
        ranges = [_range(a, b) for a, b in pairwise(cuts)]
        return cls(name, (*ranges, f"{cuts[-1]} and more"), tuple(cuts), **more)

    @property
    def shares(self) -> tuple[float, ...]:
        """The part of the people that is expected in each of `cells`; equal if nobody guesses."""
        weights = self.weights or (1,) * len(self.labels)
        return (*(weight / sum(weights) for weight in weights), 0.0, 0.0)

    @property
    def cells(self) -> tuple[str, ...]:
        """All labels that somebody can have."""
        return (*self.labels, OTHER, UNKNOWN)

    def cells_of(self, values: pl.Series) -> Strata:
        """The place in `cells` of what each row says, by that row alone."""
        texts = _plain_texts(values)
        places = {_plain(label): place for place, label in enumerate(self.cells)}
        places |= {_plain(written): self.cells.index(label) for written, label in self.same}
        other, unknown = len(self.labels), len(self.labels) + 1
        listed = {**places, "": unknown}
        found = texts.replace_strict(listed, default=None, return_dtype=pl.Int32)
        if self.cuts:
            found = found.fill_null(self._between(texts))
        return found.fill_null(other).to_numpy()

    def unlisted(self, values: pl.Series, cells: Strata) -> Unlisted:
        """Which rows say what is not on the list, and their most frequent texts; a secret.

        Args:
            values: what the rows say.
            cells: the place in `cells` that each row was given.
        """
        found = values.filter(pl.Series(cells == len(self.labels))).cast(pl.String)
        meant = [OTHER, *(written for written, label in self.same if label == OTHER)]
        found = found.filter(~_plain_texts(found).is_in([_plain(each) for each in meant]))
        texts = found.value_counts(name="rows").sort("rows", found.name, descending=[True, False])
        return Unlisted(self.name, len(found), tuple(texts.head(SHOWN_LABELS).rows()))

    def _between(self, texts: pl.Series) -> pl.Series:
        """Between which cut points a number lies; null of what is below them, or none."""
        numbers = pl.when(texts.str.contains(_NUMBER)).then(texts.cast(pl.Float64, strict=False))
        values = pl.select(numbers).to_series().to_numpy()
        places = np.searchsorted(np.array(self.cuts, np.float64), values, side="right") - 1
        below = np.isnan(values) | (places < 0)
        return pl.Series(np.where(below, -1, places), dtype=pl.Int32).replace(-1, None)

    def _require_labels(self) -> None:
        if not self.labels or any(not label.strip() for label in self.labels):
            raise self._refused("has an empty label")
        if any(len(label) > LONGEST_LABEL for label in self.labels):
            raise self._refused(f"has a label of more than {LONGEST_LABEL} characters")
        named = [_plain(label) for label in self.cells]
        if len(set(named)) < len(named):
            raise self._refused(
                f"has a label twice; case does not count, and '{OTHER}' and '{UNKNOWN}' are always "
                "there"
            )

    def _refused(self, problem: str) -> ParameterError:
        return ParameterError("group", f"'{self.name[:40]}' {problem}", hint=_HINT)


def _range(low: int, high: int) -> str:
    """The whole numbers from one cut point to the next."""
    return str(low) if high == low + 1 else f"{low}–{high - 1}"


def _plain_texts(values: pl.Series) -> pl.Series:
    """Cells as they are compared; each by itself."""
    texts = values.cast(pl.String).fill_null("").alias("value")
    written = texts.unique().to_list()
    return texts.replace_strict(written, [_plain(text) for text in written], return_dtype=pl.String)


def _plain(text: str) -> str:
    """A text as it is compared: without blanks and case, whole numbers without a point."""
    return _WHOLE.sub(r"\1", unicodedata.normalize("NFC", text).strip().lower())


# Strata: the labels of a person in all groups, as one integer.


@dataclass(frozen=True)
class Axis:
    """A group as a breakdown uses it: its cells, and where they are in a stratum.

    Attributes:
        name: of the group.
        cells: its labels, `other` and `unknown`.
        stride: by which a stratum is divided to find the place of its label.
        shares: the part of the people that is expected in each cell.
    """

    name: str
    cells: tuple[str, ...]
    stride: int = 1
    shares: tuple[float, ...] = ()

    @property
    def code(self) -> tuple[int, int]:
        """What counting needs to know: the stride and the number of cells."""
        return self.stride, len(self.cells)


@dataclass(frozen=True)
class Groups:
    """All groups of a study, in the order of their names."""

    members: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        # In one order however they are written: strata are stored, and ledgers sort entries.
        ordered = tuple(sorted(self.members, key=lambda each: each.name))
        object.__setattr__(self, "members", ordered)
        names = [each.name for each in self.members]
        if len(set(names)) < len(names):
            raise ParameterError("group", "two groups have the same name")
        if prod(len(each.cells) for each in self.members) > MOST_STRATA:
            raise ParameterError(
                "group", "all groups together have too many labels", hint="Name fewer groups."
            )

    def __bool__(self) -> bool:
        return bool(self.members)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Groups:
        """The groups that some texts describe."""
        return cls(tuple(Group.of(text) for text in texts))

    def axis(self, name: str, parameter: str = "by") -> Axis:
        """A group by its name; a refusal names this parameter."""
        stride = 1
        for each in self.members:
            if each.name == name:
                return Axis(name, each.cells, stride, each.shares)
            stride *= len(each.cells)
        known = ", ".join(each.name for each in self.members) or "none"
        raise ParameterError(
            parameter, f"'{name[:40]}' is not a group of the study", hint=f"There are: {known}."
        )

    @property
    def unknown(self) -> int:
        """The stratum of somebody of whom nothing is known."""
        return sum(self.axis(each.name).stride * (len(each.cells) - 1) for each in self.members)

    def strata(self, cells: Sequence[Strata]) -> Strata:
        """One integer per person, from the place of each label, group by group."""
        strides = [self.axis(each.name).stride for each in self.members]
        total = np.zeros(len(cells[0]), np.int32)
        for stride, places in zip(strides, cells, strict=True):
            total += np.int32(stride) * places
        return total

    def places(self, strata: Strata) -> list[Strata]:
        """The place of each label, group by group: what `strata` made one integer of."""
        codes = [self.axis(each.name).code for each in self.members]
        return [strata // np.int32(stride) % np.int32(size) for stride, size in codes]

    def differ(self, was: Strata, now: Strata) -> NDArray[np.bool_]:
        """Whose labels have changed; `unknown` says nothing."""
        changed = np.zeros(len(was), np.bool_)
        pairs = zip(self.members, self.places(was), self.places(now), strict=True)
        for each, before, after in pairs:
            unknown = len(each.cells) - 1
            changed |= (after != before) & (after != unknown)
        return changed

    def labels_of(self, stratum: int) -> tuple[str, ...]:
        """The labels that a stratum means, group by group."""
        found = []
        for each in self.members:
            stratum, place = divmod(stratum, len(each.cells))
            found.append(each.cells[place])
        return tuple(found)


NO_GROUPS = Groups()
