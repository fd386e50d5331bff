"""The tasks of the Spark engine without Spark: one after the other, in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Here:
    """A cluster of nobody else; what goes to a task and back is pickled, as on a real one."""

    cores: int = 2
    task_bytes: int = 1 << 30

    def run(self, function: Callable[[Given], Found], tasks: Sequence[Given]) -> list[Found]:
        sent: list[Given] = pickle.loads(pickle.dumps(list(tasks)))
        return [pickle.loads(pickle.dumps(function(task))) for task in sent]
