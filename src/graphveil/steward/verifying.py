"""Verifying: everything that a study claims about itself, and what its public files show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import GraphveilError, IntegrityError
from graphveil.steward import public_folder

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart
    from graphveil.study.verification import Check


@dataclass(frozen=True)
class Verification:
    """Which checks passed, and the first that failed.

    Attributes:
        checks: those that passed.
        failure: why there are no more; None if all passed.
    """

    checks: tuple[Check, ...]
    failure: GraphveilError | None

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        checks = [asdict(each) for each in self.checks]
        return {"verified": self.failure is None, "checks": checks}


def verify(folder: Path) -> Verification:
    """Check a study, or a public part by itself, up to the first failure; changes nothing."""
    held: list[Check] = []
    try:
        for check in checks(folder):
            held.append(check)  # noqa: PERF402 - what passed before a failure is shown, too
    except GraphveilError as failure:
        return Verification(tuple(held), failure)
    return Verification(tuple(held), None)


def checks(folder: Path) -> Iterator[Check]:
    """Every check that passes, one after the other; raises at the first that fails."""
    from graphveil.study import Study, verification
    from graphveil.study.public.public_part import PublicPart
    from graphveil.study.verification import Check

    public = public_folder.find(folder)
    if public_folder.has_private_part(public):
        yield from verification.verify(Study.at(public.parent))
        if not (public / "ledger.jsonl").exists():
            yield Check("the public part", "a draft: nothing is announced yet")
            return
    part = PublicPart.read(public)
    yield Check("the public part by itself", f"{part.head.rows} rows, consistent with each other")
    yield Check("the public files", _require_artefacts(public, part))


def _require_artefacts(public: Path, part: PublicPart) -> str:
    """Refuse a file that is not what the report makes of the public part."""
    from graphveil.report import artefacts

    expected = artefacts(part)
    if not part.steps and not any((public / each.path).exists() for each in expected):
        return "nothing is published yet"
    for each in expected:
        path = public / each.path
        if not path.is_file():
            raise IntegrityError(f"{each.path} is missing. `graphveil report` makes it again.")
        found, made = path.read_bytes(), each.make()
        if found != made:
            raise IntegrityError(
                f"{each.path}{_first_difference(each.path, found, made)} is not what graphveil "
                "makes from the ledger: it was changed, or written by another version. "
                "`graphveil report` writes it again."
            )
    return f"{len(expected)} files, consistent with the ledger"


def _first_difference(path: str, found: bytes, made: bytes) -> str:
    """The first row of a table that differs."""
    if not path.endswith(".csv"):
        return ""
    rows, wanted = found.split(b"\n"), made.split(b"\n")
    pairs = enumerate(zip(rows, wanted, strict=False), start=1)
    return f", row {next((row for row, (a, b) in pairs if a != b), min(len(rows), len(wanted)))}"
