"""Verifying: everything that a study claims about itself, and what its public files show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import GraphveilError, IntegrityError
from graphveil.hints import Hint
from graphveil.steward import reporting
from graphveil.study import chain
from graphveil.study.backends import HERE, BackendChoice
from graphveil.study.facts import Event
from graphveil.study.promise import Promise
from graphveil.study.public_part import LEDGER, STUDY, Check, PublicPart, Unfinished, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphveil.report.artefacts import Artefact
    from graphveil.study.chain import PublicRow

EARLIER_REPORTS = 8  # that a file which is not of the newest one may be left over from
OUR_FILES = {"README.txt", "study.toml", "ledger.jsonl"}


class Outcome(StrEnum):
    """The outcome of verifying."""

    PASSED = "passed"
    UNFINISHED = "unfinished"
    FAILED = "failed"


@dataclass(frozen=True, repr=False)
class Verification:
    """Which checks passed, and the first that failed.

    Attributes:
        checks: those that passed.
        failure: why the checks ended early; None if all passed.
        finish: the command that writes what is unfinished.
    """

    checks: tuple[Check, ...]
    failure: GraphveilError | None
    finish: str

    @property
    def outcome(self) -> Outcome:
        """Whether something is wrong, or merely unfinished, or neither."""
        if self.failure is not None:
            return Outcome.FAILED
        finished = all(each.is_finished for each in self.checks)
        return Outcome.PASSED if finished else Outcome.UNFINISHED

    def __repr__(self) -> str:
        return f"<Verification: {self.outcome.value}; print it to see what was found>"

    def __str__(self) -> str:
        if self.failure is not None:
            return f"FAILED: {self.failure}"
        lines = [f"{each.name}: {each.found}" for each in self.checks]
        return "\n  ".join([f"{self.outcome.value.capitalize()}: {len(lines)} checks", *lines])

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "verified": self.outcome is Outcome.PASSED,
            "outcome": self.outcome.value,
            "failure": None if self.failure is None else self.failure.text,
            "checks": [
                {"name": each.name, "found": each.found, "finished": each.is_finished}
                for each in self.checks
            ],
            "finish": self.finish if self.outcome is Outcome.UNFINISHED else None,
        }


def verify(folder: Path, engine: BackendChoice = HERE) -> Verification:
    """Check a study, or a public part by itself, up to the first failure; changes nothing."""
    held: list[Check] = []
    finish = f"graphveil report {folder}"
    try:
        for check in checks(folder, engine):
            held.append(check)  # noqa: PERF402 - what passed before a failure is shown, too
    except GraphveilError as failure:
        return Verification(tuple(held), failure, finish)
    return Verification(tuple(held), None, finish)


def checks(folder: Path, engine: BackendChoice = HERE) -> Iterator[Check]:
    """Every check that passes, one after the other; raises at the first that fails."""
    public = reporting.find(folder)
    if reporting.has_private_part(public):
        from graphveil.study import StoredStudy, verification

        with engine.running() as counting:
            yield from verification.verify(StoredStudy.at(public.parent, backend=counting))
        if not (public / LEDGER).exists():
            yield Check("the public part", "nothing is announced yet")
            return
    part, text = PublicPart.read(public), text_of(public / LEDGER)
    rows = chain.read_rows(text, LEDGER)
    chain.require_form(rows, text, LEDGER)
    yield Check("the public part by itself", _consistency(public, part))
    yield Check("the public files", _artefacts(public, rows))


def _consistency(public: Path, part: PublicPart) -> str:
    """The study file may be of the time before the newest series."""
    from graphveil.study.announced_plans import pool_sentence, require_enough_noise

    if Promise.from_toml(text_of(public / STUDY), STUDY, committed=True) != part.promise:
        return Unfinished(f"{STUDY} is of before the newest series, extension or adoption")
    loss = require_enough_noise(part.promise, part.series)
    pool = f"; {pool_sentence(loss)}" if loss else ""
    return f"{part.head.rows} rows, consistent with each other{pool}"


def _artefacts(public: Path, rows: Sequence[PublicRow]) -> str:
    """Refuse a file that is not what the report makes of the public part, now or before."""
    from graphveil.report.artefacts import artefacts

    part = PublicPart.of(rows)
    expected = artefacts(part)
    if not part.steps and not any((public / each.path).exists() for each in expected):
        return "nothing is published yet"
    reports = _Reports(public, rows)
    late = [each.path for each in expected if not reports.require(each)]
    others = _others(public, {each.path for each in expected})
    if late:
        return Unfinished(f"{late[0]} is older than the ledger, or missing{others}")
    return f"{len(expected)} files, consistent with the ledger{others}"


class _Reports:
    """What reports made of the public part, the newest and some before it."""

    def __init__(self, public: Path, rows: Sequence[PublicRow]) -> None:
        self._public, self._rows = public, rows
        page = public / "report.html"
        self._page = page.read_bytes() if page.is_file() else b""
        self._earlier: list[dict[str, Artefact]] = []
        self._more = islice(self._made_before(), EARLIER_REPORTS)

    @property
    def _is_current(self) -> bool:
        """Whether the page, which is written last, covers the newest row."""
        return self._rows[-1].hash.encode() in self._page

    def require(self, newest: Artefact) -> bool:
        """Whether a file is up to date; refuses one that no report has made."""
        path = self._public / newest.path
        if not path.exists() and not path.is_symlink() and not self._is_current:
            return False
        if path.is_symlink() or not path.is_file():
            raise IntegrityError(f"{newest.path} is missing.", hint=Hint("report"))
        content, made = path.read_bytes(), newest.make()
        if content == made:
            return True
        if not self._is_current and self._was_made_before(newest.path, content):
            return False
        raise IntegrityError(
            f"{newest.path}{_first_difference(newest.path, content, made)} is not what graphveil "
            "makes from the ledger: it was changed, or written by another version.",
            hint=Hint("report"),
        )

    def _was_made_before(self, path: str, content: bytes) -> bool:
        """Whether an earlier report made this file."""
        reports = (report for report in self._all_before() if path in report)
        return any(report[path].make() == content for report in reports)

    def _all_before(self) -> Iterator[dict[str, Artefact]]:
        yield from list(self._earlier)
        for report in self._more:
            self._earlier.append(report)
            yield report

    def _made_before(self) -> Iterator[dict[str, Artefact]]:
        """Earlier reports: first the one that the page is of, then the newest before."""
        from graphveil.report.artefacts import artefacts

        ends = _ends_of_commands(self._rows)
        ends.sort(key=lambda end: (self._rows[end - 1].hash.encode() in self._page, end))
        for end in reversed(ends):
            yield {each.path: each for each in artefacts(PublicPart.of(self._rows[:end]))}


def _ends_of_commands(rows: Sequence[PublicRow]) -> list[int]:
    """How many rows there were whenever a report can have been written, but for now."""
    within = {Event.RELEASE_MADE.value}
    return [end for end in range(1, len(rows)) if rows[end].event not in within]


def _others(public: Path, expected: set[str]) -> str:
    """Files that graphveil has not made; they may be anything."""
    paths = (path for path in sorted(public.rglob("*")) if not path.is_dir())
    names = [path.relative_to(public).as_posix() for path in paths]
    others = [name for name in names if name not in expected | OUR_FILES]
    if not others:
        return ""
    return f"; not graphveil's, and not looked into: {', '.join(others[:3])}"


def _first_difference(path: str, content: bytes, made: bytes) -> str:
    """The first row of a table that differs."""
    if not path.endswith(".csv"):
        return ""
    rows, wanted = content.split(b"\n"), made.split(b"\n")
    pairs = enumerate(zip(rows, wanted, strict=False), start=1)
    return f", row {next((row for row, (a, b) in pairs if a != b), min(len(rows), len(wanted)))}"
