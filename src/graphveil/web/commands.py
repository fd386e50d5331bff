"""The same in a terminal and in Python: for each step of the page a line to copy."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphveil.steward.staging import Reading

_FLAGS = ("complete", "strict", "yes", "ignore_after_end", "change_reading")
_DAYS = "day_first"
_OF_ADD = ("id", "source", "target", "time", "edge_time", "undated")  # arguments of `Study.add`


@dataclass(frozen=True)
class Same:
    """What does in a terminal and in Python what the page does."""

    command: str
    python: str


def adding(folder: Path, files: Sequence[str], reading: Reading) -> Same:
    """Add files, read as they are on the page; their folders are the steward's to say."""
    said = {name: value for name, value in reading.options.items() if value not in (None, [], ())}
    # A mark that is not set says nothing; that the month comes first does.
    given = {name: value for name, value in said.items() if value is not False or name == _DAYS}
    words = ["graphveil", "add", str(folder), *files]
    words += [] if reading.format is None else ["--format", reading.format]
    words += [word for name, value in given.items() for word in _option(name, value)]
    words += [_dashed(name) for name in _FLAGS if getattr(reading, name)]
    return Same(shlex.join(words), _python_add(folder, files, reading, given))


def _option(name: str, value: Any) -> list[str]:
    if name == _DAYS:
        return ["--day-first" if value else "--month-first"]
    if value is True:
        return [_dashed(name)]
    several = value if isinstance(value, list | tuple) else [value]
    return [word for each in several for word in (_dashed(name), str(each))]


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")


def _python_add(
    folder: Path, files: Sequence[str], reading: Reading, given: Mapping[str, Any]
) -> str:
    own = {name: value for name, value in given.items() if name in _OF_ADD}
    rest = {name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items() if name not in _OF_ADD}  # fmt: skip
    marks = {name: True for name in _FLAGS if getattr(reading, name)}
    formed = {} if reading.format is None else {"format": reading.format}
    words = [*map(repr, files), *_keywords(own | formed | marks)]
    begin = ""
    if rest:
        begin = "from graphveil.records import ReadingOptions\n"
        words.append(f"options=ReadingOptions({', '.join(_keywords(rest))})")
    return f"{begin}{_study(folder)}.add({', '.join(words)})"


def _keywords(given: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in given.items()]


def _study(folder: Path) -> str:
    return f"graphveil.Study.open({str(folder)!r})"


def publishing(folder: Path, through: str, *, early: bool) -> Same:
    """Publish up to a step."""
    words = ["graphveil", "publish", str(folder), "--through", through]
    more = ", early=True" if early else ""
    return Same(
        shlex.join([*words, *(["--early"] if early else [])]),
        f"{_study(folder)}.publish(through={through!r}{more})",
    )


def only_commands(folder: Path, *, is_open: bool) -> list[tuple[str, str]]:
    """What only commands do, each with the command to copy."""
    here = shlex.quote(str(folder))
    later = f"graphveil series {here} --open triangles --epsilon 1/4"
    later = f"graphveil series {here} --open triangles --epsilon 1/4 --dry-run"
    of_open = [
        ("Look at a further series; without --dry-run, open it", later),
        ("Go on after the last step", f"graphveil extend {here} --last 2035"),
        ("Move the study to another machine", f"graphveil hand-over {here} --to CODE"),
        ("The releases as a table", f"graphveil releases {here}"),
    ]
    always = [
        ("Two pages for those who sign", f"graphveil memo {here}"),
        ("Compare mechanisms of a series", f"graphveil plan {here} --all"),
        ("Check a bound against a public network", "graphveil promise NETWORK.csv"),
    ]
    beginning = [
        ("Steps of uneven length", "graphveil new FOLDER --cuts 2021,2022-07,2023 --end 2024 …"),
        ("A ledger in PostgreSQL, for a team", "graphveil new FOLDER --database postgresql://…"),
        ("Series that share one δ (a pool)", "graphveil new FOLDER --delta 1e-6 --pool 1 …"),
    ]
    return [*(of_open if is_open else []), *always, *beginning]
