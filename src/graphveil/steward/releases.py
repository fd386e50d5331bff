"""Releases: what was published, of all series or of one, and of some steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError
from graphveil.steward import public_folder

if TYPE_CHECKING:
    from graphveil.report.tables.releases import Measurement
    from graphveil.study.public.public_part import PublicPart


def published(folder: Path, series: str | None = None) -> PublicPart:
    """The public part of a study, or by itself; of one series, if it is named."""
    from graphveil.study.public.public_part import PublicPart

    part = PublicPart.read(public_folder.find(folder))
    if series is None:
        return part
    chosen = tuple(each for each in part.series if each.series == series)
    if not chosen:
        known = ", ".join(each.series for each in part.series)
        problem = f"there is none called '{series}'"
        raise ParameterError("series", problem, hint=f"There are: {known}.")
    return replace(part, series=chosen)


def of_steps(part: PublicPart, steps: Iterable[int]) -> tuple[Measurement, ...]:
    """Every number that was published at some steps."""
    from graphveil.report.tables.releases import measurements

    return measurements(part, set(steps))
