"""What is dear to make is made once, by whichever worker of a run comes first."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from typing import TypeVar

import pytest

Made = TypeVar("Made")


def made_once(folders: pytest.TempPathFactory, name: str, make: Callable[[], Made]) -> Made:
    """What `make` returns: the others of the run wait for it, and read what was stored."""
    home = folders.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        home = home.parent  # which all workers of this run have in common, and no other run
    place = home / f"{name}.pickle"
    with (home / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
        if not place.exists():
            made = make()
            place.write_bytes(pickle.dumps(made))
            return made
        stored: Made = pickle.loads(place.read_bytes())
    return stored
