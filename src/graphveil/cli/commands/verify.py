"""`graphveil verify`: everything that a study claims about itself, checked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from graphveil.cli.ending import UNFINISHED
from graphveil.cli.options import HERE, Conf, Engine, Json, Master, StudyFolder, chosen
from graphveil.cli.output import print_json, print_table, working
from graphveil.errors import StudyError

if TYPE_CHECKING:
    from graphveil.steward.verifying import Verification


def verify(
    folder: StudyFolder,
    engine: Engine = HERE,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Check ledger, budget, private tables, noise and the public files against each other.

    Changes nothing. Ends with exit code 9 at the first row or file that differs from what was
    committed, and names it; with 11 if nothing is wrong, but something is still to be written,
    and names the command for it. For a public part alone, checks what anybody can check.

    Example: graphveil verify my-study
    """
    from graphveil.startup import load_kernels_without_blas
    from graphveil.steward import reporting, verifying

    with working("Verifying …"):
        with suppress(StudyError):  # which verifying reports, as part of what it finds
            if reporting.has_private_part(reporting.find(folder)):  # which alone is counted
                load_kernels_without_blas()
        verification = verifying.verify(folder, chosen(engine, master, conf))
    if as_json:
        print_json(verification.as_data())
    else:
        _print(verification)
    if verification.failure is not None:
        raise verification.failure
    if verification.outcome is verifying.Outcome.UNFINISHED:
        raise typer.Exit(UNFINISHED)


def _print(verification: Verification) -> None:
    if verification.checks:
        rows = [(each.name, each.found) for each in verification.checks]
        print_table("Checks passed", ("what", "found"), rows, text_columns=2)
    if verification.failure is not None:
        return
    open_ones = [each for each in verification.checks if not each.is_finished]
    if not open_ones:
        print("All checks passed.")
        return
    print("Nothing is wrong, but the public part is unfinished:")
    for each in open_ones:
        print(f"  {each.name}: {each.found}")
    print(f"Next: {verification.finish}")
