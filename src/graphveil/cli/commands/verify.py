"""`graphveil verify`: everything that a study claims about itself, checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.cli.options import Json, StudyFolder
from graphveil.errors import GraphveilError, IntegrityError

if TYPE_CHECKING:
    from graphveil.study.public_part import PublicPart


def verify(folder: StudyFolder, as_json: Json = False) -> None:
    """Check ledger, budget, private tables, noise and the public files against each other.

    Changes nothing. Ends with exit code 9 at the first row or file that is not as it was
    committed, and names it. Of a public part alone, checks what anybody can.

    Example: graphveil verify my-study
    """
    from graphveil.cli.output import working

    held: list[tuple[str, str]] = []
    try:
        with working("Verifying …"):
            for check in _checks(folder):
                held.append(check)  # noqa: PERF402 - what held before a failure is told, too
    except GraphveilError:
        _print(held, as_json=as_json, failed=True)
        raise
    _print(held, as_json=as_json, failed=False)


def _checks(folder: Path) -> Iterator[tuple[str, str]]:
    """Every check that holds; raises at the first that does not."""
    from graphveil.cli.public_folder import has_private_part, public_folder
    from graphveil.study.public_part import PublicPart

    public = public_folder(folder)
    if has_private_part(public):
        yield from _private_checks(public.parent)
        if not (public / "ledger.jsonl").exists():
            yield "the public part", "a draft: nothing is announced yet"
            return
    part = PublicPart.read(public)
    yield "the public part by itself", f"{part.head.rows} rows, which tell one story"
    yield "the public files", _require_artefacts(public, part)


def _private_checks(root: Path) -> Iterator[tuple[str, str]]:
    from graphveil.kernels.startup import load_kernels_without_blas
    from graphveil.study import Study, verification

    load_kernels_without_blas()
    for check in verification.verify(Study.at(root)):
        yield check.name, check.found


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
                "makes of the ledger: it was changed, or written by another version. `graphveil "
                "report` writes it again."
            )
    return f"{len(expected)} files, as they follow from the ledger"


def _first_difference(path: str, found: bytes, made: bytes) -> str:
    """The first row of a table that is not as it should be."""
    if not path.endswith(".csv"):
        return ""
    rows, wanted = found.split(b"\n"), made.split(b"\n")
    pairs = enumerate(zip(rows, wanted, strict=False), start=1)
    return f", row {next((row for row, (a, b) in pairs if a != b), min(len(rows), len(wanted)))}"


def _print(held: list[tuple[str, str]], *, as_json: bool, failed: bool) -> None:
    from graphveil.cli.output import print_json, print_table

    if as_json:
        checks = [{"name": name, "found": found} for name, found in held]
        print_json({"verified": not failed, "checks": checks})
        return
    if held:
        print_table("Found to be as it should be", ("what", "found"), held, text_columns=2)
    if not failed:
        print("Everything holds.")
