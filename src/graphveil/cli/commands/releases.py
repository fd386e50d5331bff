"""`graphveil releases`: what was published, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.report.releases import Measurement
    from graphveil.study.public_part import PublicPart


def releases(
    folder: StudyFolder,
    series: Annotated[
        str | None, typer.Option("--series", metavar="NAME", help="This series only.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Json = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write Parquet.")
    ] = None,
) -> None:
    """Show every published number with its interval; all of it is public.

    Works on the public part alone, too.

    Example: graphveil releases my-study --series edges --csv
    """
    from graphveil.cli.public_folder import read_public
    from graphveil.report import releases as tidy
    from graphveil.whole_files import write_whole

    if sum((as_csv, as_json, parquet is not None)) > 1:
        raise ParameterError("releases", "give one of --csv, --json and --parquet")
    part = read_public(folder, series)
    if parquet is not None:
        content = tidy.as_parquet(part)
        write_whole(parquet, lambda file: file.write(content), parameter="parquet")
        print(f"Written: {parquet}")
    elif as_csv or as_json:
        made = tidy.as_csv(part) if as_csv else tidy.as_json(part)
        print(made.decode(), end="")
    else:
        _print_all(part)


def rows_of_steps(public: Path, steps: Iterable[int]) -> list[dict[str, Any]]:
    """What was published at some steps, for programs."""
    from dataclasses import asdict

    return [asdict(row) for row in _of_steps(public, steps)]


def print_steps(title: str, public: Path, steps: Iterable[int]) -> None:
    """What was published at some steps, for people."""
    _print(title, _of_steps(public, steps))


def _of_steps(public: Path, steps: Iterable[int]) -> list[Measurement]:
    from graphveil.report.releases import measurements
    from graphveil.study.public_part import PublicPart

    wanted = set(steps)
    if not wanted:
        return []
    return [row for row in measurements(PublicPart.read(public)) if row.step in wanted]


def _print_all(part: PublicPart) -> None:
    from graphveil.report.releases import measurements

    rows = measurements(part)
    if not rows:
        print("Nothing is published yet.")
        return
    _print(f"{part.study.title}: published so far", rows)
    print("The raw value is unbiased; the processed one is the same made plausible, and biased.")


def _print(title: str, rows: Iterable[Measurement]) -> None:
    from graphveil.cli.output import print_table
    from graphveil.noise.exact_numbers import exact
    from graphveil.report.wording import count_range

    found = list(rows)
    level = float(100 * exact("level", found[0].level))
    print_table(
        title,
        ("series", "step", "raw", "processed", f"true number, with {level:.6g}% confidence"),
        (
            (
                row.series if row.degree is None else f"{row.series}, degree {row.degree}",
                row.label,
                row.raw,
                f"{row.processed:,.6g}" if row.processed < 1e6 else f"{row.processed:,.0f}",
                count_range(row.low, row.high),
            )
            for row in found
        ),
        text_columns=2,
    )
