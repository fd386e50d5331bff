"""SVG as text: elements, words and lines, with every foreign text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Point = tuple[float, float]
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
LETTER = 0.56  # the mean width of a letter of that font, in font sizes


def element(name: str, inside: str = "", **attributes: object) -> str:
    """An element; underscores in names of attributes become hyphens, None leaves one out."""
    written = "".join(
        f' {key.replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def words(text: str, at: Point, size: int, colour: str, anchor: str | None = None) -> str:
    """A line of text; it ends at the point, or has it in the middle, if the anchor says so."""
    return element(
        "text", escape(text), x=at[0], y=at[1], fill=colour, font_size=size, text_anchor=anchor
    )


def width_of(text: str, size: int) -> float:
    """About how wide a text is."""
    return len(text) * size * LETTER


def line(points: Sequence[Point], colour: str, width: float) -> str:
    """A line through points."""
    return element(
        "path", d=_path(points), fill="none", stroke=colour, stroke_width=width,
        stroke_linejoin="round",
    )  # fmt: skip


def band(lower: Sequence[Point], upper: Sequence[Point], colour: str) -> str:
    """What lies between two lines."""
    return element("path", d=_path([*upper, *reversed(lower)]) + "Z", fill=colour)


def dots(points: Iterable[Point], colour: str, radius: float) -> str:
    """A dot at each point."""
    return "".join(element("circle", cx=x, cy=y, r=radius, fill=colour) for x, y in points)


def document(inside: str, width: float, height: float, label: str) -> str:
    """A whole drawing, with its text alternative."""
    return element(
        "svg", inside, xmlns="http://www.w3.org/2000/svg", role="img", aria_label=label,
        viewBox=f"0 0 {_value(width)} {_value(height)}", width=width, height=height,
        font_family=FONT,
    )  # fmt: skip


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{_value(x)},{_value(y)}" for x, y in points)


def _value(value: object) -> str:
    """Numbers to a tenth of a pixel, the same on every machine."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
