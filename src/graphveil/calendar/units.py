"""Units of time, from years to microseconds, and what can be wrong with a time."""

from __future__ import annotations

from enum import IntEnum

SECOND = 1_000_000  # microseconds
DAY = 86_400 * SECOND
LAST_YEAR = 9999
MOST_STEPS = 2**20  # tables per step stay small even if one row lies far in the future


class Unit(IntEnum):
    """What is counted; from YEAR to TIME also the precisions, coarse to fine."""

    NUMBER = 0
    YEAR = 1
    MONTH = 2
    DAY = 3
    TIME = 4


class Flaw(IntEnum):
    """Why a row has no step; NONE if it has one."""

    NONE = 0
    MISSING = 1
    UNREADABLE = 2
    WRONG_KIND = 3
    TOO_COARSE = 4
    OUT_OF_RANGE = 5
    AFTER_END = 6
    TOO_FAR = 7
