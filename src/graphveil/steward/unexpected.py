"""Errors that nobody foresaw: what is safe to say of them, whatever the face."""

from __future__ import annotations

import os
import traceback

DEBUG = "GRAPHVEIL_DEBUG"


def unexpected(error: BaseException) -> str:
    """What is safe to say of an error that nobody foresaw: its text may hold ids and counts."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}, line {where.lineno}"  # noqa: PTH119
    return (
        f"internal error ({type(error).__name__} in {place}). What was committed is safe. Please "
        f"report it; {DEBUG}=1 shows the traceback, which may hold private values: look through "
        "it before you share it."
    )
