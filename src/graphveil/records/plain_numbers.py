"""Tables of plain whole numbers, parsed by all cores.

Plain means: exactly as one would print the number, without leading zeros, plus signs,
blanks or quotes, within 18 digits. Then a number and its text are the same id. At the first
byte that is anything else, the whole table is left to the general reader.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.intake.text_order import WORD, trailing_zeros, word_at
from graphveil.kernels import inlined, kernel
from graphveil.threads import available_threads, in_threads

Bytes = NDArray[np.uint8]
_NEWLINE, _MINUS, _ZERO = 10, 45, 48
_MOST_DIGITS = 18
NOT_PLAIN = -1

# Eight bytes at a time; in words, as `kernels.words` reads them.
_ZEROS = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
_HIGH_HALVES = np.uint64(0xF0F0F0F0F0F0F0F0)
_EVERY_SECOND_BYTE = np.uint64(0x00FF00FF00FF00FF)
_EVERY_SECOND_TWO = np.uint64(0x0000FFFF0000FFFF)
_LAST_FOUR = np.uint64(0x00000000FFFFFFFF)
_TENS = 10 ** np.arange(WORD + 1, dtype=np.uint64)


def parse_plain_numbers(
    text: Bytes, columns: int, separator: str = ","
) -> NDArray[np.int64] | None:
    """The numbers as (columns, rows), or None if the text holds anything else."""
    parts = _at_line_ends(text, 4 * available_threads())
    counts = in_threads(_count_lines, [(part,) for part in parts])
    starts = np.concatenate([[0], np.cumsum(counts)])
    numbers = np.empty((columns, int(starts[-1])), dtype=np.int64)
    ends = in_threads(
        _parse,
        [
            (part, columns, ord(separator), numbers, int(start))
            for part, start in zip(parts, starts, strict=False)
        ],
    )
    return numbers if ends == starts[1:].tolist() else None


def _at_line_ends(text: Bytes, parts: int) -> list[Bytes]:
    """The text in about equal parts that end where lines do."""
    cuts = [0]
    for part in range(1, parts):
        rest = text[max(len(text) * part // parts, cuts[-1]) :]
        window = np.flatnonzero(rest[:1024] == _NEWLINE)
        if len(window):
            cuts.append(len(text) - len(rest) + int(window[0]) + 1)
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True) if a < b]


@kernel
def _count_lines(text: Bytes) -> int:
    lines = 0
    for byte in text:
        lines += byte == _NEWLINE
    unfinished = len(text) > 0 and text[-1] != _NEWLINE
    return lines + unfinished


@inlined
def _word(text: Bytes, i: int) -> np.uint64:
    """The eight bytes from a place on; behind the end there are zeros."""
    if i + WORD <= len(text):
        return word_at(text, i)
    word = np.uint64(0)
    for place in range(len(text) - 1, i - 1, -1):
        word = word << np.uint64(8) | np.uint64(text[place])
    return word


@inlined
def _leading_digits(word: np.uint64) -> int:
    """How many bytes are digits before the first that is none; digits are 0 to 9 here, not text."""
    others = (word | (word + _SIXES)) & _HIGH_HALVES  # a carry only reaches bytes behind
    return int(trailing_zeros(others) >> np.uint64(3))


@inlined
def _eight_digits(word: np.uint64) -> np.uint64:
    """The number that eight digits write, joined by twos, fours and eights."""
    twos = (word * np.uint64(10) + (word >> np.uint64(8))) & _EVERY_SECOND_BYTE
    fours = (twos * np.uint64(100) + (twos >> np.uint64(16))) & _EVERY_SECOND_TWO
    return (fours * np.uint64(10_000) + (fours >> np.uint64(32))) & _LAST_FOUR


@kernel
def _parse(text: Bytes, columns: int, separator: int, numbers: NDArray[np.int64], row: int) -> int:
    """Fill rows from `row` on; the row after the last, or NOT_PLAIN."""
    i, column = 0, 0
    while i < len(text):
        negative = text[i] == _MINUS
        i += negative
        start, value, count = i, np.uint64(0), WORD
        while count == WORD:
            word = _word(text, i) ^ _ZEROS
            count = _leading_digits(word)
            if count > 0:
                aligned = word << np.uint64(8 * (WORD - count))  # the digits behind zeros
                value = value * _TENS[count] + _eight_digits(aligned)
            i += count
        digits = i - start
        if digits == 0 or digits > _MOST_DIGITS:
            return NOT_PLAIN
        if text[start] == _ZERO and (digits > 1 or negative):
            return NOT_PLAIN
        numbers[column, row] = -np.int64(value) if negative else np.int64(value)
        column += 1
        last = column == columns
        if i < len(text) and text[i] != (_NEWLINE if last else separator):
            return NOT_PLAIN
        if last:
            column, row = 0, row + 1
        i += 1
    return row if column == 0 else NOT_PLAIN
