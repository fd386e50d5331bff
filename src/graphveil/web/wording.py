"""Words of the page: templates, figures, what helps after a refusal, and the same as commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import GraphveilError

if TYPE_CHECKING:
    import jinja2

    from graphveil.steward.staging import Reading

HINTS = {
    "publish-first": "Publish first, then add these files; or “Give these records up”, and they "
    "count in that step.",
    "add-again": "Add these files again, or “Give these records up”.",
    "add-again-with": "Add these files again, alone or together with the new ones, or “Give these "
    "records up”.",
    "adopt": "See “Safekeeping”.",
    "all-listed": "Add a table node,time beside it (its header alone if all are known). If "
    "HIV-TRACE lists everybody, mark “HIV-TRACE lists everybody”.",
    "behind": "Go on with the newest copy. If that is lost, and no release is missing here, "
    "“Safekeeping” goes on with fresh noise.",
    "change-reading": "Leave it out, or mark “Read differently from now on”.",
    "clone": "Go on with the original, or run `graphveil hand-over FOLDER --to {code}` there in a "
    "terminal before it is copied; if that is impossible, see “Safekeeping”.",
    "columns": "Check its spelling; the columns of a file are listed below it.",
    "confirm": "If that is right, mark “Add the rest all the same”.",
    "copy": "If it moved, run `graphveil hand-over FOLDER --to {code}` in a terminal where it was, "
    "and copy it again; if that is impossible, see “Safekeeping”.",
    "create": "Choose its folder, or make a new study.",
    "day-or-month": "Say it once for all: “Day first” (7/8/2021 is 7 August) or “Month first”.",
    "delta": "Give “δ”.",
    "early": "Wait, or mark “Seal it although it has not ended”.",
    "encoding": "Name its “Encoding”, such as windows-1252, or save it as UTF-8 text.",
    "excel-dates": "If Excel counts the days so, mark “Plain numbers are days as Excel counts "
    "them”.",
    "expected": "Give an “Expected size” for each.",
    "extend": "To go on, see `graphveil extend` in a terminal.",
    "forked": "Go on with the other copy, or see “Safekeeping”, which draws fresh noise.",
    "formats": "All formats: the table of formats in the documentation.",
    "guess-links": "Columns: {columns}. If these are people, “Person” may be {id} and “Date of a "
    "person” {time}; if links, “One end of a link” {source} and “Other end of a link” {target}.",
    "guess-people": "Columns: {columns}. If these are people, “Person” may be {id} and “Date of a "
    "person” {time}.",
    "handed-over": "Let it be handed over again; if that is impossible, see “Safekeeping”, which "
    "draws fresh noise.",
    "handing": "Run `graphveil hand-over FOLDER --to {to}` again in a terminal, which finishes it; "
    "or see “Safekeeping”, which goes on here with fresh noise.",
    "ignore-after-end": "To leave such records out, mark “Leave out records dated after the last "
    "step”.",
    "infector": "If so, “One end of a link” is {source}; if not, “Person” is {id}.",
    "limit": "Split it, or raise the limit of `graphveil serve --limit`.",
    "limit-memory": "Split the files, or raise the limit of `graphveil serve --limit`; memory "
    "may be "
    "eight times that.",
    "limit-sheet": "Remove what stands far from the table, save its sheet as CSV, or raise the "
    "limit of `graphveil serve --limit`.",
    "machine-code": "Run `graphveil hand-over` in a terminal of the other machine: it shows the "
    "code.",
    "master": "`graphveil publish --master local[2]` needs no cluster.",
    "map-labels": "They are shown to you alone. Below [groups.{group}] of the study file, say what "
    'they mean: same = {{"N" = "North"}}.',
    "name-columns": "Name the columns: “Person”, or “One end of a link” and “Other end of a link”.",
    "name-distance": "Name it under “Distance”.",
    "name-ends": "“One end of a link” may be {source}, “Other end of a link” {target}.",
    "name-ends-or-id": "“One end of a link” may be {source}, “Other end of a link” {target}; or "
    "“Person” {id}.",
    "name-id": "“Person” may be {id}.",
    "name-group": "Choose its column under “Groups”, or “none” if the files have no labels.",
    "name-time": "Name it under “Date of a person”.",
    "not-strict": "Without “Refuse everything at the first row that breaks a rule” the other "
    "records are added.",
    "other-distance": "Give the threshold for these distances, or name another column under "
    "“Distance”.",
    "other-encoding": "Name its “Encoding”, or save the file as UTF-8 text.",
    "other-order": "Correct it, or choose “Day first” or “Month first” if all dates are in the "
    "other order.",
    "password": "Begin `graphveil serve` with --password-file.",
    "port": "Begin `graphveil serve` with another --port.",
    "price": "A smaller price is more noise: give one for {series}.",
    "public-folder": "Give the public folder of a study, or make a new study.",
    "public-part": "Choose the folder above it.",
    "publish-again": "“Publish” first brings the public part up to date, then goes on.",
    "report": "“Write the page again” under “Public page” writes it again.",
    "restored": "Go on with the original; if that is gone, see “Safekeeping”, which draws fresh "
    "noise.",
    "room": "Work on a larger machine, or with `graphveil add --engine spark`, which needs no more "
    "memory than it is given.",
    "same-taker": "Give {to}.",
    "table-file": "Download the table as CSV instead.",
    "through": "Choose “Up to which step”.",
    "through-step": "Steps are sealed one after the other; choose {step} under “Up to which step”.",
    "too-noisy": "What helps: a larger “Total ε”, longer steps, fewer series; fewer “Links of a "
    "person, at most”, too, which leaves links out. To have it all the same, mark “Begin it "
    "although a series is too noisy to tell”.",
    "undated": "“People without a date” can be left out.",
    "undo-change": "Undo the change; for a new series use `graphveil series` in a terminal, for "
    "another promise make a new study.",
    "unsaid-distance": "Say up to which it is under “Linked up to this distance”: 0.015 is usual "
    "for "
    "HIV (TN93), 12 for SNPs of tuberculosis. If every row is a link, “Distance” is none.",
    "usual-distance": "0.015 is usual for HIV (TN93), 12 for SNPs of tuberculosis.",
    "verify": "Check the study under “Verify”, and restore the newest backup of the private "
    "folder.",
    "which-distance": "Say it under “Distance”; none if every row is a link.",
    "which-person": "Say which column names a person, under “Person”: {columns}.",
    "withdraw": "If records are wrong, correct them (“Withdraw batch”); else make a new study with "
    "a larger bound, chosen without the data.",
}


def refusal_of(error: GraphveilError) -> str:
    """What went wrong and what helps, by the labels of this page."""
    return error.worded(HINTS)


def figure(number: float) -> str:
    """A predicted error, with as many digits as mean anything."""
    from graphveil.mechanisms.planning.usefulness import rounded

    return f"±{rounded(number)}"


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("graphveil.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, **values: Any) -> str:
    """A page as text."""
    return _environment().get_template(template).render(values)


# The same in a terminal and in Python: for each step of the page a line to copy.


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
