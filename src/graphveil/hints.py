"""What helps after a refusal: a code with facts, which each face puts into words of its own.

Code below the faces says which help there is, not what an option is called. `HINTS` has the words
of Python; `cli.hints` and `web.wording` have those of commands and of the page, under the same
codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Only commands do these things, so that every face sends to a terminal.
IN_A_TERMINAL = {
    "adopt": "See `graphveil adopt`.",
    "behind": "Go on with the newest copy. If that is lost, and no release is missing here, "
    "`graphveil adopt` goes on with fresh noise.",
    "clone": "Go on with the original, or run `graphveil hand-over FOLDER --to {code}` there "
    "before it is copied; if that is impossible, see `graphveil adopt`.",
    "copy": "If it moved, run `graphveil hand-over FOLDER --to {code}` where it was, and copy it "
    "again; if that is impossible, see `graphveil adopt`.",
    "extend": "To go on, see `graphveil extend`.",
    "forked": "Go on with the other copy, or see `graphveil adopt`, which draws fresh noise.",
    "handed-over": "Let it be handed over again; if that is impossible, see `graphveil adopt`, "
    "which draws fresh noise.",
    "handing": "Run `graphveil hand-over FOLDER --to {to}` again, which finishes it; or see "
    "`graphveil adopt`, which goes on here with fresh noise.",
    "master": "`--master local[2]` needs no cluster.",
    "machine-code": "Run `graphveil hand-over` on the other machine: it shows the code.",
    "password": "Give --password-file; nothing is encrypted on the way, so prefer an SSH tunnel.",
    "port": "Try another --port.",
    "price": "A smaller price is more noise: give --price {series}=E.",
    "restored": "Go on with the original; if that is gone, see `graphveil adopt`, which draws "
    "fresh noise.",
    "same-taker": "Give --to {to}.",
}

HINTS = IN_A_TERMINAL | {
    "adopt": "See study.adopt.",
    "extend": "To go on, see study.extend.",
    "price": "A smaller price is more noise: say prices={{'{series}': E}}.",
    "publish-first": "Publish first, then add it; or let it count in that step: study.abandon().",
    "add-again": "Add the same again, or give it up: study.abandon().",
    "add-again-with": "Add the same again, alone or together with what is new, or give it up: "
    "study.abandon().",
    "all-listed": "Add a table node,time beside it (its header alone if all are known). If "
    "HIV-TRACE lists everybody, say all_listed=True in ReadingOptions.",
    "change-reading": "Leave it out, or say change_reading=True if it changes from now on.",
    "columns": "Check its spelling; `graphveil formats FILE` shows the columns of a file.",
    "confirm": "To add the rest all the same: yes=True.",
    "create": "Create one with Study.create.",
    "day-or-month": "Say it once for all in ReadingOptions: day_first=True (7/8/2021 is 7 August) "
    "or day_first=False.",
    "delta": "Give delta=.",
    "early": "Wait, or seal it now with early=True.",
    "encoding": 'Name its encoding in ReadingOptions, such as encoding="windows-1252", or save it '
    "as UTF-8 text.",
    "excel-dates": "If Excel counts the days so, say excel_dates=True in ReadingOptions.",
    "expected": "Give expected= for each.",
    "formats": "All formats: `graphveil formats` in a terminal.",
    "guess-links": "Columns: {columns}. If these are people, say id='{id}', time='{time}'; if "
    "links, "
    "source='{source}', target='{target}'.",
    "guess-people": "Columns: {columns}. If these are people, say id='{id}', time='{time}'.",
    "ignore-after-end": "To leave such records out, use ignore_after_end=True.",
    "infector": "If so, say source='{source}'; if not, say id='{id}'.",
    "limit": "Split it, or raise the limit: most_bytes= in ReadingOptions.",
    "limit-memory": "Split the files, or raise the limit, most_bytes= in ReadingOptions; memory "
    "may "
    "be eight times that.",
    "limit-sheet": "Remove what stands far from the table, save its sheet as CSV, or raise "
    "most_bytes= in ReadingOptions.",
    "map-labels": "dry_run=True shows them. Below [groups.{group}] of the study file, say what "
    'they mean: same = {{"N" = "North"}}.',
    "name-columns": "Name the columns: id= of people, source= and target= of links.",
    "name-distance": "Name it: distance= in ReadingOptions.",
    "name-ends": "Say source='{source}', target='{target}'.",
    "name-ends-or-id": "Say source='{source}', target='{target}', or id='{id}'.",
    "name-id": "Say id='{id}'.",
    "name-group": "Name it: groups={{'{group}': COLUMN}}; or 'none' for a file without labels.",
    "name-time": "Name it: time=.",
    "not-strict": "With strict=False the other records are added.",
    "other-distance": "Give the threshold for these distances, or name another column: distance= "
    "in "
    "ReadingOptions.",
    "other-encoding": "Name its encoding (encoding= in ReadingOptions), or save the file as UTF-8 "
    "text.",
    "other-order": "Correct it, or say the other day_first= in ReadingOptions if all dates are in "
    "the other order.",
    "public-folder": "Give the public folder of a study, or make one with Study.create.",
    "public-part": "Open the folder above it; `graphveil releases` in a terminal reads the public "
    "part by itself.",
    "publish-again": "study.publish() first brings the public part up to date, then the same call "
    "goes on.",
    "report": "study.report() writes it again.",
    "room": "Count with the Spark engine, which needs no more memory than it is given, or on a "
    "larger machine.",
    "table-file": "Read releases.csv instead.",
    "through": "Use through=.",
    "through-step": "Steps are sealed one after the other; to seal all up to {step}, use "
    "through='{step}'.",
    "too-noisy": "What helps: a larger epsilon, longer steps, fewer series; hubs with a smaller "
    "bound, too, which leaves links out. To have it all the same: even_too_noisy=True.",
    "undated": 'undated="drop" leaves out such people.',
    "undo-change": "Undo the change; for a new series use study.open_series, for another promise "
    "open a new study.",
    "unsaid-distance": 'Say up to which it is in ReadingOptions: max_distance="0.015" is usual for '
    'HIV (TN93), "12" for SNPs of tuberculosis. If every row is a link: distance="none".',
    "usual-distance": '"0.015" is usual for HIV (TN93), "12" for SNPs of tuberculosis.',
    "verify": "Run study.verify(), and restore the newest backup of the private folder.",
    "which-distance": 'Say it with distance= in ReadingOptions; "none" if every row is a link.',
    "which-person": "Say which column names a person, by id=: {columns}.",
    "withdraw": "If records are wrong, correct them (see study.withdraw); else open a new study "
    "with a larger bound, chosen without the data.",
}


class Hint(str):
    """What helps, in the words of Python; it remembers its code, so that others find theirs.

    Attributes:
        parts: codes with their facts, and plain texts, in order.

    Examples:
        >>> hint = Hint("name-id", id="case")
        >>> hint
        "Say id='case'."
        >>> in_words(hint, {"name-id": "Say --id '{id}'."})
        "Say --id 'case'."
    """

    parts: tuple[tuple[str, Mapping[str, Any]] | str, ...]

    def __new__(cls, code: str, /, **facts: object) -> Hint:
        """A hint of one code."""
        return cls._of(((code, facts),))

    @classmethod
    def joined(cls, *texts: str) -> Hint:
        """Several one after the other; those that are empty are left out."""
        parts = [getattr(text, "parts", (str(text),)) for text in texts if text]
        return cls._of(tuple(part for each in parts for part in each))

    @classmethod
    def _of(cls, parts: tuple[tuple[str, Mapping[str, Any]] | str, ...]) -> Hint:
        made = super().__new__(cls, _worded(parts, HINTS))
        made.parts = parts
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Made again from its parts where another process has made it."""
        return Hint._of, (self.parts,)


def in_words(text: str, words: Mapping[str, str]) -> str:
    """A hint in the words of a face; any other text as it is."""
    return _worded(text.parts, words) if isinstance(text, Hint) else text


def _worded(
    parts: tuple[tuple[str, Mapping[str, Any]] | str, ...], words: Mapping[str, str]
) -> str:
    return " ".join(
        part if isinstance(part, str) else words[part[0]].format(**part[1]) for part in parts
    )
