"""SVG as text: elements, words and lines with every foreign text escaped; and a whole drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path

from graphveil.errors import ParameterError, installing
from graphveil.whole_files import write_whole

Point = tuple[float, float]
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
LETTER = 0.56  # the mean width of a letter of that font, in font sizes
PIXELS = 2  # of a PNG for each pixel of the drawing

# Colour-blind readers can distinguish blue and vermilion, and the shapes differ anyway. The
# page's style sheet names these colours to exchange them in the dark.
INK, MUTED, GRID, PAPER = "#1f2937", "#5b6472", "#e5e7eb", "#ffffff"
TITLE, SMALL = 16, 12  # sizes of letters


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


def upright(text: str, at: Point, size: int, colour: str) -> str:
    """A line of text that is read from below, with the point in its middle."""
    turned = f"translate({_value(float(at[0]))} {_value(float(at[1]))}) rotate(-90)"
    return element("g", words(text, (0, 0), size, colour, "middle"), transform=turned)


def titles(head: Sequence[str], at: Point, row: int) -> str:
    """A title in bold, and lines of text below it, each `row` pixels below the one before."""
    lines = []
    for number, text in enumerate(head):
        style = (SMALL, MUTED) if number else (TITLE, INK)
        drawn = words(text, (at[0], at[1] + row * number), *style)
        lines.append(drawn if number else element("g", drawn, font_weight="bold"))
    return "".join(lines)


def width_of(text: str, size: int) -> float:
    """About how wide a text is."""
    return len(text) * size * LETTER


def line(points: Sequence[Point], colour: str, width: float, dash: str | None = None) -> str:
    """A line through points."""
    return element(
        "path", d=_path(points), fill="none", stroke=colour, stroke_width=width,
        stroke_linejoin="round", stroke_dasharray=dash,
    )  # fmt: skip


def shape(points: Sequence[Point], colour: str) -> str:
    """The area within a closed line."""
    return element("path", d=_path(points) + "Z", fill=colour)


def band(lower: Sequence[Point], upper: Sequence[Point], colour: str) -> str:
    """What lies between two lines."""
    return shape([*upper, *reversed(lower)], colour)


def dots(points: Iterable[Point], colour: str, radius: float) -> str:
    """A dot at each point."""
    return "".join(element("circle", cx=x, cy=y, r=radius, fill=colour) for x, y in points)


def whiskers(ends: Iterable[tuple[Point, Point]], colour: str, cap: float) -> str:
    """An upright line between two points each, with a short line across either end."""
    found = []
    for (x, low), (_, high) in ends:
        found.append(line([(x, low), (x, high)], colour, 1.2))
        if cap:
            found += [line([(x - cap, y), (x + cap, y)], colour, 1.2) for y in (low, high)]
    return "".join(found)


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


@dataclass(frozen=True)
class Drawing:
    """A picture that shows itself in a notebook, and can be saved as a file.

    Attributes:
        label: the picture in words, for readers who do not see it.
        svg: the whole drawing as text; the same picture is always the same text.
    """

    label: str
    svg: str = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write it into a file, whole or not at all; needs no network.

        Args:
            path: ends in `.svg`, `.html` or, with the extra `png` installed, in `.png`.
        """
        self.write(Path(path), "path")

    def write(self, path: Path, parameter: str) -> None:
        """The same; a refusal names this parameter."""
        require_drawable(path, parameter)
        content = self.content(path.suffix)
        write_whole(path, lambda file: file.write(content), parameter=parameter)

    def content(self, ending: str) -> bytes:
        """The bytes of a file with this ending."""
        return CONTENTS[ending.lower()](self)

    def _repr_svg_(self) -> str:
        return self.svg


def _as_svg(drawing: Drawing) -> bytes:
    return drawing.svg.encode()


def _as_html(drawing: Drawing) -> bytes:
    """A page that needs nothing else."""
    head = f'<meta charset="utf-8"><title>{escape(drawing.label)}</title>'
    body = f"<head>{head}</head><body>{drawing.svg}</body>"
    return f'<!doctype html>\n<html lang="en">{body}</html>\n'.encode()


def _as_png(drawing: Drawing) -> bytes:
    """Pixels; the letters are those of the fonts of this machine."""
    import vl_convert

    return vl_convert.svg_to_png(drawing.svg, scale=PIXELS)


CONTENTS: dict[str, Callable[[Drawing], bytes]] = {
    ".svg": _as_svg, ".png": _as_png, ".html": _as_html,
}  # fmt: skip


def can_make_pixels() -> bool:
    """Whether the library that makes PNG is installed."""
    return find_spec("vl_convert") is not None


def require_drawable(path: Path, parameter: str) -> None:
    """Refuse a file that could not be written in the end, before anything is computed."""
    ending = path.suffix.lower()
    if ending not in CONTENTS:
        raise ParameterError(parameter, f"must end in {', '.join(CONTENTS)}, not '{path.suffix}'")
    if ending == ".png" and not can_make_pixels():
        raise ParameterError(
            parameter,
            "a PNG needs a library that is not installed",
            hint=f"Take .svg or .html, or install it: {installing('png')}",
        )
    if not path.resolve().parent.is_dir():
        raise ParameterError(parameter, "must be in a folder that exists")
