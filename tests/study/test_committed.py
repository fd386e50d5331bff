"""What was committed, from rows made by hand: what is told of it, and what is refused."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.errors import IntegrityError
from graphveil.study import committed
from graphveil.study.committed import Announced, Committed
from graphveil.study.facts import Event


def row(event: Event, at: str, *, public: bool = True) -> Any:
    return SimpleNamespace(event=event, at=at, public=object() if public else None)


ROWS = (
    row(Event.STUDY_OPENED, "first"),
    row(Event.RECORDS_ADDED, "second", public=False),
    row(Event.STEP_SEALED, "third"),
    row(Event.RELEASE_MADE, "fourth"),
    row(Event.RECORDS_ADDED, "fifth", public=False),
)
VERSIONS = tuple(SimpleNamespace(calendar=Calendar.yearly(year)) for year in (1990, 2000, 2010))
LINES = tuple(SimpleNamespace(hash=name) for name in ("a", "b", "c"))
LEDGER: Any = SimpleNamespace(
    rows=ROWS, versions=VERSIONS, public_lines=LINES, history="history", series="series"
)


@pytest.mark.parametrize(("lines", "behind"), [(0, True), (1, True), (2, False), (3, False)])
def test_the_public_part_is_behind_if_it_lacks_a_step_that_was_sealed(
    lines: int, behind: bool
) -> None:
    public: Any = SimpleNamespace(text="line\n" * lines)
    assert Committed(LEDGER, {}, public).is_behind is behind


def test_steps_are_called_as_the_newest_promise_calls_them() -> None:
    assert str(Announced([0, 2], LEDGER)) == "Sealed: 2010, 2012."
    assert str(Announced([], LEDGER)) == "Sealed: nothing new."


def test_the_public_sees_the_newest_row_that_it_is_told() -> None:
    part: Any = Announced([], LEDGER).public_part
    assert (part.head.hash, part.head.rows, part.head.at) == ("c", 3, "fourth")
    assert (part.promise, part.opened_at) == (VERSIONS[2], "first")
    assert (part.history, part.series) == ("history", "series")


READING: Any = SimpleNamespace(ledger=lambda: LEDGER, series=lambda: {"edges": "kept"})
FOLDER: Any = "folder"


def agreeing(monkeypatch: pytest.MonkeyPatch, but: str = "") -> None:
    """Let every check pass, but one."""

    def check(name: str) -> Any:
        def checked(public: object, ledger: object) -> None:
            assert (public, ledger) == ("told of folder", LEDGER)
            if name == but:
                raise IntegrityError(name)

        return checked

    for name in ("require_newest", "require_agreeing_file"):
        monkeypatch.setattr(committed, name, check(name))
    monkeypatch.setattr(committed, "published_text", lambda folder: f"told of {folder}")


def test_what_is_read_agrees_with_what_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    agreeing(monkeypatch)
    store: Any = SimpleNamespace(reading=lambda: nullcontext(READING))
    assert committed.read(FOLDER, store) == Committed(
        LEDGER, {"edges": "kept"}, "told of folder"  # type: ignore[dict-item, arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("but", ["require_newest", "require_agreeing_file"])
def test_what_does_not_is_refused(monkeypatch: pytest.MonkeyPatch, but: str) -> None:
    agreeing(monkeypatch, but)
    with pytest.raises(IntegrityError, match=but):
        committed.checked(READING, "told of folder")  # type: ignore[arg-type]
