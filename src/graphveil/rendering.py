"""Charts as bytes: from Vega-Lite to SVG, PNG and HTML, without a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair

SCALE = 2  # pixels of a PNG per pixel of the layout


def specification(chart: Callable[[], altair.TopLevelMixin]) -> dict[str, Any]:
    """A chart as plain data; tests validate charts, here it would take most of the time.

    Args:
        chart: makes the chart; parts of it would be validated as they are put together.
    """
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        data: dict[str, Any] = chart().to_dict(validate=False)
    return data


def svg(chart: dict[str, Any]) -> bytes:
    """As a drawing."""
    import vl_convert

    return vl_convert.vegalite_to_svg(chart).encode()


def png(chart: dict[str, Any]) -> bytes:
    """As a picture."""
    import vl_convert

    return vl_convert.vegalite_to_png(chart, scale=SCALE)


def html(chart: dict[str, Any]) -> bytes:
    """As a page that needs nothing else."""
    import vl_convert

    return vl_convert.vegalite_to_html(chart, bundle=True).encode()


def png_of_svg(drawing: bytes) -> bytes:
    """The picture of a drawing, without laying it out again."""
    import vl_convert

    return vl_convert.svg_to_png(drawing.decode(), scale=SCALE)


RENDERERS: dict[str, Callable[[dict[str, Any]], bytes]] = {".svg": svg, ".png": png, ".html": html}
