"""Writing a native pair: both files appear at once, and nothing is overwritten."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import uuid4

from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Records


def require_new(folder: Path) -> None:
    """Refuse a folder that holds anything, before the work of filling it."""
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() or folder.is_symlink():
        raise InputError(
            "something is already there, and is not overwritten",
            place=Place(str(folder)),
            hint="Choose a folder that does not exist yet.",
        )


def write_pair(records: Records, folder: Path) -> None:
    """Write nodes.csv and edges.csv into a new folder, in one move."""
    require_new(folder)
    hidden = folder.with_name(f".{folder.name}-{uuid4().hex}")
    try:
        hidden.mkdir(parents=True)
        records.nodes.frame.write_csv(hidden / "nodes.csv")
        records.edges.frame.write_csv(hidden / "edges.csv")
        hidden.rename(folder)
    except OSError as error:
        raise InputError(
            "the files cannot be written",
            place=Place(str(folder)),
            hint="Choose a folder that does not exist yet, in a place where you may write.",
        ) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)  # after the move there is none
