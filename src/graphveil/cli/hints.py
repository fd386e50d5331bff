"""What helps after a refusal, in the words of commands; `graphveil.hints` has the codes."""

from __future__ import annotations

from graphveil.hints import IN_A_TERMINAL

HINTS = IN_A_TERMINAL | {
    "publish-first": "Run `graphveil publish STUDY` first, then add these files; or let them count "
    "in that step: `graphveil add STUDY --abandon`.",
    "add-again": "Add these files again, or give them up: `graphveil add STUDY --abandon`.",
    "add-again-with": "Add these files again, alone or together with the new ones, or give them "
    "up: `graphveil add STUDY --abandon`.",
    "all-listed": "Add a table node,time beside it (its header alone if all are known). If "
    "HIV-TRACE lists everybody, say --all-listed.",
    "change-reading": "Leave it out, or say --change-reading if it changes from now on.",
    "columns": "Check its spelling; `graphveil formats FILE` shows the columns of a file.",
    "confirm": "To add the rest all the same: --yes.",
    "create": "Create one with `graphveil new {folder}`.",
    "day-or-month": "Say it once for all: --day-first (7/8/2021 is 7 August) or --month-first.",
    "delta": "Give --delta.",
    "early": "Wait, or seal it now with --early.",
    "encoding": "Name its encoding, such as --encoding windows-1252, or save it as UTF-8 text.",
    "excel-dates": "If Excel counts the days so, say --excel-dates.",
    "expected": "Give --expected SERIES=N for each.",
    "formats": "All formats: `graphveil formats`.",
    "guess-links": "Columns: {columns}. If these are people, say --id '{id}' --time '{time}'; if "
    "links, --source '{source}' --target '{target}'.",
    "guess-people": "Columns: {columns}. If these are people, say --id '{id}' --time '{time}'.",
    "ignore-after-end": "To leave such records out, use --ignore-after-end.",
    "infector": "If so, say --source '{source}'; if not, say --id '{id}'.",
    "limit": "Split it, or raise the limit: --limit.",
    "limit-memory": "Split the files, or raise the limit, --limit; memory may be eight times that.",
    "limit-sheet": "Remove what stands far from the table, save its sheet as CSV, or raise "
    "--limit.",
    "map-labels": "--dry-run shows them. Below [groups.{group}] of the study file, say what "
    'they mean: same = {{"N" = "North"}}.',
    "name-columns": "Name the columns: --id of people, --source and --target of links.",
    "name-distance": "Name it: --distance.",
    "name-ends": "Say --source '{source}' --target '{target}'.",
    "name-ends-or-id": "Say --source '{source}' --target '{target}', or --id '{id}'.",
    "name-id": "Say --id '{id}'.",
    "name-group": "Name it: --group {group}=COLUMN; or {group}=none if there are no labels.",
    "name-time": "Name it: --time.",
    "not-strict": "Without --strict the other records are added.",
    "other-distance": "Give the threshold for these distances, or name another column: --distance.",
    "other-encoding": "Name its encoding (--encoding), or save the file as UTF-8 text.",
    "other-order": "Correct it, or say --day-first or --month-first if all dates are in the other "
    "order.",
    "public-folder": "Give the public folder of a study, or make one with `graphveil new`.",
    "public-part": "Name the folder above it. By itself, `releases` and `verify` read it.",
    "publish-again": "`graphveil publish {folder}` first brings the public part up to date, then "
    "the same command goes on.",
    "report": "`graphveil report` writes it again.",
    "room": "Count with --engine spark, which needs no more memory than it is given, or on a "
    "larger machine.",
    "table-file": "Use --csv or --json.",
    "through": "Use --through LABEL.",
    "through-step": "Steps are sealed one after the other; to seal all up to {step}, use --through "
    "{step}.",
    "too-noisy": "What helps: a larger --epsilon, longer steps, fewer series; --hubs with a "
    "smaller --bound, too, which leaves links out. To have it all the same: --yes.",
    "undated": "--undated drop leaves out such people.",
    "undo-change": "Undo the change; for a new series use `graphveil series`, for another promise "
    "open a new study.",
    "unsaid-distance": "Say up to which it is: --max-distance 0.015 is usual for HIV (TN93), 12 "
    "for "
    "SNPs of tuberculosis. If every row is a link: --distance none.",
    "usual-distance": "--max-distance 0.015 is usual for HIV (TN93), 12 for SNPs of tuberculosis.",
    "verify": "Run `graphveil verify`, and restore the newest backup of the private folder.",
    "which-distance": "Say it with --distance, or --distance none if every row is a link.",
    "which-person": "Say which column names a person, by --id: {columns}.",
    "withdraw": "If records are wrong, correct them (see `graphveil add --withdraw`); else open a "
    "new study with a larger bound, chosen without the data.",
}
