r"""What reaches a terminal is text: control characters from files are shown, not obeyed.

A title, a column or a value may hold escape sequences that clear the screen, rename the window
or turn text around. While a command runs, both of its streams write them out (`\x1b`), whoever
prints: the commands, the option parser, a warning or a traceback. Only `output.console`, which
draws tables and bars from text that it has cleaned itself, reaches the terminal directly.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# C0 but tab and line feed, DEL, C1; marks that turn text around; separators of lines; surrogates.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}]")
_UNSAFE_IN_A_LINE = re.compile(f"[\t\n{_CONTROLS}]")


def shown(text: str) -> str:
    """A text whose control characters are written out; line feeds and tabs stay."""
    return _UNSAFE.sub(_written_out, text)


def one_line(text: str) -> str:
    """A text from a file, which cannot pretend to be several lines."""
    return _UNSAFE_IN_A_LINE.sub(_written_out, text)


def shown_in_json(text: str) -> str:
    """JSON whose strings hold no control characters, and mean the same."""
    return _UNSAFE.sub(lambda each: f"\\u{ord(each[0]):04x}", text)


def _written_out(each: re.Match[str]) -> str:
    return each[0].encode("unicode_escape").decode()


class Encoded:
    """A stream that writes out what its encoding lacks: not every terminal knows an ε."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text as far as it can be written."""
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # whoever writes bytes would go round
            raise AttributeError(name)
        return getattr(self.stream, name)


class PlainText(Encoded):
    """One that shows control characters as well."""

    def write(self, text: str) -> int:
        """Write a text, made harmless."""
        super().write(shown(text))
        return len(text)


@contextmanager
def text_only() -> Iterator[None]:
    """Let both streams of this process show control characters, for as long as it lasts."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, PlainText(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def terminal(stream: TextIO) -> TextIO:
    """The stream behind, for those who clean what they print."""
    return cast(TextIO, Encoded(stream.stream)) if isinstance(stream, PlainText) else stream
