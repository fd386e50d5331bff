"""Words of the page: what helps after a refusal, by the labels of its fields; and figures."""

from __future__ import annotations

from graphveil.errors import GraphveilError

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
