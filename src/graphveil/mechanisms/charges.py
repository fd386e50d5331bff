"""Charges: what all epochs of a series cost one person together, wherever a change crosses over.

An epoch charges for what a person changes at its own steps. A rise in one and the fall that
belongs to it in another may be charged in full twice, so the price of going on is computed from
all epochs at once (`docs/mechanisms.md#the-price-of-going-on`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from math import lcm

from graphveil.mechanisms.mechanism import Epoch, Measured, Mechanism, Request
from graphveil.mechanisms.optimised import Returning
from graphveil.noise.joint_laws import MovesNoise
from graphveil.statistics.shape import Columns


@dataclass(frozen=True, eq=False)
class Remembered:
    """The columns of a matrix, with a cache of the distances that were computed."""

    matrix: Columns
    _pairs: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    def column_l1(self) -> int:
        """The largest column sum."""
        return self.matrix.column_l1()

    def pair_l1(self, rises: int, falls: int) -> int:
        """The largest distance of two columns, as the matrix itself has it."""
        distance = self._pairs.get((rises, falls))
        if distance is None:
            distance = self._pairs[rises, falls] = self.matrix.pair_l1(rises, falls)
        return distance


@dataclass(frozen=True, eq=False)
class Charge:
    """Equal epochs, as they are charged for.

    Attributes:
        matrix: what each of them measures of the changes at its steps.
        rate: what a distance of 1 in that costs.
        times: how many there are.
    """

    matrix: Columns
    rate: Fraction
    times: int = 1

    @property
    def single(self) -> Fraction:
        """What a change by 1 at a single step costs, where it costs most."""
        return self.rate * self.matrix.column_l1()

    def scaled(self, factor: Fraction) -> Charge:
        """The same with less noise, or with more: so many times the rate."""
        return replace(self, rate=factor * self.rate)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The block-diagonal matrix of all epochs, each block times a whole number: its weight."""

    blocks: tuple[tuple[int, Charge], ...]

    def column_l1(self) -> int:
        """The longest column of all blocks."""
        return self._longest()[0]

    def pair_l1(self, rises: int, falls: int) -> int:
        """Both columns in one block; or the longest of one block and of another."""
        within = max(weight * each.matrix.pair_l1(rises, falls) for weight, each in self.blocks)
        most, second = self._longest()
        return max(within, max(rises, falls) * most + min(rises, falls) * second)

    def _longest(self) -> tuple[int, int]:
        """The longest columns of two different blocks; 0 where there is one block only."""
        lengths = [
            weight * each.matrix.column_l1()
            for weight, each in self.blocks
            for _ in range(min(each.times, 2))
        ]
        most, second = (*sorted(lengths, reverse=True), 0)[:2]
        return most, second


def charges(epochs: Iterable[Epoch]) -> tuple[Charge, ...]:
    """What each epoch charges; equal ones that follow each other are counted."""
    return tuple(
        Charge(_measured(epoch), epoch.law.privacy_loss, len(list(equal)))
        for epoch, equal in groupby(epochs)
    )


def _measured(epoch: Epoch) -> Columns:
    """The matrix behind the norm of its law; that of noise which returns to zero has a sum more."""
    return Returning() if isinstance(epoch.law, MovesNoise) else Remembered(epoch.factorisation)


def loss_on_differences(request: Request, charged: Sequence[Charge]) -> Fraction:
    """ε of all epochs together, for noise on differences.

    Guarantees: no less than Σ ‖C_e·d_e‖/b_e over the epochs e, for every change d of one person
        (`docs/mechanisms.md#the-price-of-going-on`).
    """
    unit = lcm(*(each.rate.denominator for each in charged))
    blocks = tuple((int(each.rate * unit), each) for each in charged)
    return Fraction(request.cost(_Blocks(blocks)), unit)


def loss_on_totals(mechanism: Mechanism, request: Request, charged: Sequence[Charge]) -> Fraction:
    """ε of all epochs together, for noise on totals: one person may do its worst in each.

    Guarantees: docs/mechanisms.md#the-price-of-going-on.
    """
    height = height_of_totals(mechanism, request)
    return sum((height * each.rate * each.times for each in charged), Fraction())


def height_of_totals(mechanism: Mechanism, request: Request) -> int:
    """By how much one person can change each total that is measured."""
    if mechanism.measured is Measured.TOTALS:
        return request.sensitivity.static_l1
    return request.known_projected_l1()


def loss(mechanism: Mechanism, request: Request, epochs: Iterable[Epoch]) -> Fraction:
    """ε of all epochs of a series of pure ε."""
    assert mechanism.pure, "Gaussian noise is charged in zCDP"
    charged = charges(epochs)
    if mechanism.adds_up:
        return loss_on_differences(request, charged)
    return loss_on_totals(mechanism, request, charged)
