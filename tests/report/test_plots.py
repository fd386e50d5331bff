"""Drawings as values and as files, and plots: what is written, and where."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from graphveil.drawing import svg
from graphveil.drawing.plots import (
    NAME_GAP,
    SHAPES,
    Axis,
    Curve,
    Figure,
    Panel,
    apart,
    even_ticks,
    in_percent,
    round_ticks,
)
from graphveil.drawing.svg import Drawing
from graphveil.errors import ParameterError

SVG = "{http://www.w3.org/2000/svg}"
DRAWING = Drawing("a <line>", svg.document(svg.line([(0, 1), (2, 3)], "#000000", 1), 4, 4, "a"))


@pytest.mark.parametrize("ending", ["svg", "SVG", "html", "png"])
def test_a_drawing_is_saved_by_its_ending(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"drawn.{ending}"
    DRAWING.save(str(file))
    content = file.read_bytes()
    assert list(tmp_path.iterdir()) == [file]
    if ending == "png":
        assert content.startswith(b"\x89PNG")
    else:
        assert DRAWING.svg.encode() in content
    if ending == "html":
        assert b"<title>a &lt;line&gt;</title>" in content


def test_a_notebook_shows_it_and_its_name_is_short() -> None:
    assert DRAWING._repr_svg_() == DRAWING.svg
    assert repr(DRAWING) == "Drawing(label='a <line>')"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("drawn.pdf", "path: must end in .svg, .png, .html, not '.pdf'"),
        ("nowhere/drawn.svg", "path: must be in a folder that exists"),
    ],
)
def test_what_cannot_be_saved_is_refused(tmp_path: Path, file: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DRAWING.save(tmp_path / file)
    assert list(tmp_path.iterdir()) == []


def test_without_the_library_a_png_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svg, "can_make_pixels", lambda: False)
    with pytest.raises(ParameterError, match=r"pip install 'graphveil\[png\]'"):
        DRAWING.save(tmp_path / "drawn.png")
    DRAWING.save(tmp_path / "drawn.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["drawn.svg"]


def test_names_of_lines_do_not_overlap() -> None:
    places = apart([50.0, 50.1, 50.2, 50.0, 190.0])
    gaps = [below - above for above, below in pairwise(sorted(places))]
    assert all(gap > NAME_GAP - 1 for gap in gaps)
    assert places[4] == pytest.approx(190.0)


def test_ticks_are_round() -> None:
    assert round_ticks(0.15, 3) == (0.2, 0.5, 1, 2)
    assert even_ticks(0.9) == pytest.approx((0, 0.2, 0.4, 0.6, 0.8, 1.0))
    assert even_ticks(50) == (0, 10, 20, 30, 40, 50)
    assert in_percent(0.25) == "25%"


def test_shares_of_both_scales() -> None:
    assert Axis(1, 100, ()).share(10) == pytest.approx(0.5)
    assert Axis(0, 8, (), linear=True).share(2) == 0.25
    assert Axis(1, 100, ()).share(0) < 0, "what vanishes is drawn below the plot, where it is cut"


def panel(mark: str = "circle", **changes: object) -> Panel:
    curve = Curve("name & co", ((1, 1), (10, 50)), "#123456", mark=mark, bars=((1, 2), (40, 60)))
    axis = Axis(1, 100, (1, 10, 100), "an axis")
    return Panel(200, 100, axis, axis, (curve,), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ["", "circle", *SHAPES])
def test_a_figure_holds_its_panels_titles_and_legend(mark: str) -> None:
    one = panel(mark)
    figure = Figure(("a head",), ((one, one), (one,)), one.curves, ("upper", "lower"))
    drawn = ElementTree.fromstring(figure.drawing("in words").svg)
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert texts[:2] == ["a head", "name & co"]
    assert {"upper", "lower"} < set(texts)
    assert texts.count("an axis") == 2 * 3
    assert len(list(drawn.iter(f"{SVG}svg"))) == 1 + 3
    assert drawn.get("aria-label") == "in words"


def test_columns_stand_below_each_other() -> None:
    wide = Panel(200, 100, Axis(1, 2, ()), Axis(1, 1e9, (1, 1e9)), ())
    slim = Panel(200, 100, Axis(1, 2, ()), Axis(1, 2, (1, 2)), ())
    drawn = ElementTree.fromstring(Figure(("",), ((wide,), (slim,))).drawing("").svg)
    places = [
        each.get("transform", "") for each in drawn.findall(f"{SVG}g") if each.get("transform")
    ]
    assert len({place.split()[0] for place in places}) == 1


def test_names_at_the_ends_have_their_room() -> None:
    named = ElementTree.fromstring(Figure(("",), ((panel(named=True),),)).drawing("").svg)
    plain = ElementTree.fromstring(Figure(("",), ((panel(),),)).drawing("").svg)
    assert float(named.get("width", 0)) > float(plain.get("width", 0)) + 30
    assert "name & co" in [each.text for each in named.iter(f"{SVG}text")]
