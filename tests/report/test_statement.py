"""Card and page state what NIST SP 800-226 asks for, and the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from graphveil.report.card import card
from graphveil.report.page import page
from graphveil.report.statement import aim
from graphveil.report.wording import chance, when
from graphveil.study.public_part import PublicPart
from public_parts import SERIES, promise, published
from statement_items import ITEMS, Item
from test_summary import STUDIES


class _Sections(HTMLParser):
    """The text below each heading, as readers see it; below an h2 also that of its h3."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self._heading: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("h2", "h3", "footer"):
            self._open = {} if tag != "h3" else {k: v for k, v in self._open.items() if k == "h2"}
            self._heading = tag if tag != "footer" else None
            self._open[tag] = "footer" if tag == "footer" else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == self._heading:
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._heading:
            self._open[self._heading] += data
            return
        for name in self._open.values() or [""]:
            self.texts[name] = self.texts.get(name, "") + data


def sections(part: PublicPart) -> dict[str, str]:
    found = _Sections()
    found.feed(page(part).decode())
    return {name.strip(): " ".join(text.split()) for name, text in found.texts.items()}


def part_of(name: str, steps: int = 3) -> PublicPart:
    return PublicPart.of(published(promise(**STUDIES[name]), steps, 40).rows)


def answers(found: Any, path: list[str]) -> Iterator[Any]:
    """What a card says at a path; a star is every entry of a list or a table."""
    if not path:
        yield found
        return
    key, *rest = path
    if key != "*":
        yield from answers(found[key], rest)
        return
    entries = found.values() if isinstance(found, dict) else found
    for entry in entries:
        yield from answers(entry, rest)


def worded(item: Item, answer: Any) -> list[str]:
    """An answer of the card as the page words it."""
    if item.asked == "what ε means":
        return [chance(row[key]) for row in answer for key in ("before", "at_least", "at_most")]
    if item.asked == "when it was begun":
        return [when(answer)]
    if item.asked == "δ" and answer == "0":
        return []
    return [item.told.format(answer)]


@pytest.mark.parametrize("name", STUDIES)
def test_card_and_page_answer_every_item(name: str) -> None:
    part = part_of(name)
    told, shown = json.loads(json.dumps(card(part))), sections(part)
    for item in ITEMS:
        found = list(answers(told, item.card.split(".")))
        assert found, item.asked
        for answer in found:
            assert answer, item.asked
            for words in worded(item, answer):
                assert " ".join(words.split()) in shown[item.page], (item.asked, words)


def test_an_item_that_the_page_leaves_out_would_be_noticed() -> None:
    shown = sections(part_of("plain"))
    item = next(each for each in ITEMS if each.asked == "timing")
    (answer,) = answers(card(part_of("plain")), item.card.split("."))
    assert answer in shown[item.page]
    assert answer not in shown["What is promised"]
    assert answer not in shown[""]


def test_an_unusual_objective_is_named_on_card_and_page() -> None:
    chosen: list[dict[str, Any]] = [
        SERIES[0], SERIES[1] | {"minimise": "last"}, SERIES[2] | {"minimise": "mean"},
    ]  # fmt: skip
    part = PublicPart.of(published(promise(series=chosen), 2).rows)
    assert [aim(each) is None for each in part.series] == [True, False, True]
    told = [each.get("minimised") for each in card(part)["series"]]
    assert told == [None, "last: the last release alone", None]
    text = page(part).decode()
    assert text.count("<dt>Minimised</dt>") == 1
    assert f"<dt>Minimised</dt><dd>{told[1]}</dd>" in text
