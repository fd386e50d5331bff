"""`graphveil report`: page, charts, card and table, from the public part alone."""

from __future__ import annotations

from graphveil.cli.options import Json, StudyFolder
from graphveil.cli.output import print_json, working


def report(folder: StudyFolder, as_json: Json = False) -> None:
    """Write the public report again: a page for readers, charts, a privacy card, a table.

    Reads study.toml and ledger.jsonl and nothing else, so it also works on a public part
    that came from somewhere else. The same two files always give the same report.

    Example: graphveil report my-study
    """
    from graphveil.steward import reporting

    with working("Writing the report …"):
        written = reporting.report(folder).paths
    if as_json:
        print_json([str(path) for path in written])
    else:
        for path in written:
            print(path)
