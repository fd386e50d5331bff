"""`graphveil add`: records go into the private part, and wait for their step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.errors import InputError, ParameterError

if TYPE_CHECKING:
    from graphveil.formats import ReadFiles
    from graphveil.study import Added, Study

PRIVATE = "PRIVATE: true counts and rows of your records. For the data holder only."


def add(
    folder: StudyFolder,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="One or many; the format is recognised."),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="pair, hivtrace, microbetrace, linelist, snap, graphml or snap-temporal.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="FIELD", help="Column or field with a node's date."),
    ] = None,
    edge_time: Annotated[
        str | None,
        typer.Option("--edge-time", metavar="FIELD", help="Column or field with an edge's date."),
    ] = None,
    day_first: Annotated[
        bool, typer.Option("--day-first", help="7/8/2021 is the 7th of August.")
    ] = False,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="The files hold everything: tell what has vanished."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check; change nothing.")
    ] = False,
    details: Annotated[
        Path | None,
        typer.Option(
            "--list", metavar="FILE", help="Write which records were re-dated or vanished (.csv)."
        ),
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Take the latest batch back, if it is not sealed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add records to a study; they are published with their step, or the next one.

    The first records open the study: from then on its file is a promise. What is printed
    about the records is private.

    Example: graphveil add my-study nodes.csv edges.csv --dry-run
    """
    from graphveil.cli.output import working
    from graphveil.formats import ReadingOptions, read_records
    from graphveil.kernels.startup import load_kernels_without_blas
    from graphveil.study import Study

    study = Study.at(folder)
    if withdraw:
        _withdraw(study, files, as_json=as_json)
        return
    if not files:
        raise ParameterError("files", "name at least one file of records")
    options = ReadingOptions(time=time, edge_time=edge_time, day_first=day_first)
    with working("Reading and checking …"):
        load_kernels_without_blas()
        reading = read_records(files, format=format_, options=options)
        _require_direction(reading, study)
        added = study.add(reading.records, complete=complete, dry_run=dry_run)
    if details is not None:
        _write_details(details, added)
    if as_json:
        _print_json(reading, added)
    else:
        _print(folder, reading, added, details)


def _withdraw(study: Study, files: list[Path] | None, *, as_json: bool) -> None:
    from graphveil.cli.output import print_json

    if files:
        raise ParameterError("withdraw", "takes no files", hint="Leave them out.")
    number = study.withdraw()
    if as_json:
        print_json({"withdrawn": number})
    else:
        print(f"Batch {number} is taken back: it will not be published.")


def _require_direction(reading: ReadFiles, study: Study) -> None:
    """Refuse files that say that their links are of another kind than the study's."""
    directed = study.promise().directed
    if reading.directed in (None, directed):
        return
    words = {True: "directed", False: "undirected"}
    raise InputError(
        f"the files say that links are {words[not directed]}, the study that they are "
        f"{words[directed]}",
        hint="Convert the files, or open a study of the other kind.",
    )


def _write_details(path: Path, added: Added) -> None:
    from graphveil.whole_files import write_whole

    content = added.findings.details.write_csv().encode()
    write_whole(path, lambda file: file.write(content), parameter="list", mode=0o600)


def _print_json(reading: ReadFiles, added: Added) -> None:
    from dataclasses import asdict

    from graphveil.cli.output import print_json

    findings = added.findings
    data: dict[str, Any] = {
        "private": PRIVATE,
        "batch": added.batch,
        "files": [asdict(each) for each in reading.report.files],
        "notes": [str(each) for each in reading.report.notes],
        **asdict(findings.intake),
        "vanished_nodes": findings.vanished_nodes,
        "vanished_edges": findings.vanished_edges,
        "keeps_bound": findings.keeps_bound,
    }
    print_json(data)


def _print(folder: Path, reading: ReadFiles, added: Added, details: Path | None) -> None:
    print(PRIVATE, file=sys.stderr)
    for line in [*reading.report.lines(), *added.findings.lines()]:
        print(f"  {line}", file=sys.stderr)
    if details is not None:
        print(f"  listed in {details}, which only you can read", file=sys.stderr)
    if added.batch is None:
        print("A dry run: nothing was changed.")
    else:
        print(f"Batch {added.batch} is kept. Next: graphveil publish {folder}")
