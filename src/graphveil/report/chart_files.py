"""What the files of charts are called: after their series, as far as file systems allow."""

from __future__ import annotations

from graphveil.study.public.chain import digest

LONGEST = 200  # there are studies from before series had a longest name


def chart_file(series: str) -> str:
    """The name of a series' chart, without its ending; a name that is too long is cut."""
    return series if len(series) <= LONGEST else f"{series[:100]}-{digest(series)[:16]}"
