"""What the files of a series are called: after it, as far as file systems allow."""

from __future__ import annotations

from graphveil.study.public.chain import digest

LONGEST = 200  # there are studies from before series had a longest name


def file_name(series: str) -> str:
    """The name without its ending; one that is too long is cut."""
    return series if len(series) <= LONGEST else f"{series[:100]}-{digest(series)[:16]}"
