"""The form on reading: which column is what, and what becomes of rows that break a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphveil.steward.records.previewing import Preview
from graphveil.steward.records.tray import Reading
from graphveil.web.forms import Form

# Each with its label and the columns that it is likely to be.
MAPPED = {
    "id": "Person",
    "time": "Date of a person",
    "source": "One end of a link",
    "target": "Other end of a link",
    "edge_time": "Date of a link",
    "distance": "Distance",
}
TEXTS = ("max_distance", "encoding", "undated")
MARKS = ("strict", "yes", "ignore_after_end", "complete", "change_reading")
DAYS = {"": None, "day": True, "month": False}


def reading_of(form: Form) -> Reading:
    """What a form says about files."""
    options: dict[str, Any] = {
        name: form[name] for name in (*MAPPED, *TEXTS) if form[name]
    }  # what is not said is left to the files
    options["where"] = [line.strip() for line in form["where"].splitlines() if line.strip()]
    options["day_first"] = DAYS.get(form["days"])
    options["excel_dates"] = form.checked("excel_dates")
    options["all_listed"] = form.checked("all_listed")
    marks = {name: form.checked(name) for name in MARKS}
    return Reading(form.said("format"), options, **marks)


def choices(previews: Sequence[Preview], reading: Reading) -> dict[str, list[str]]:
    """The columns to choose from, for each thing that has to be found; dates first where wanted."""
    every = list(dict.fromkeys(name for each in previews for name in each.columns))
    dates = [name for name in every if any(name in each.dates for each in previews)]
    found = {}
    for name in MAPPED:
        likely = dates if name in ("time", "edge_time") else []
        said = reading.options.get(name)
        told = [said] if said and said not in every else []
        found[name] = list(dict.fromkeys([*told, *likely, *every]))
    found["distance"] = [*found["distance"], "none"] if "none" not in every else found["distance"]
    return found


def days_said(reading: Reading) -> str:
    """Which of the three answers on days and months was given."""
    said = reading.options.get("day_first")
    return next(name for name, meant in DAYS.items() if meant is said)


def marked(reading: Reading) -> set[str]:
    """The boxes that have their mark."""
    own = {name for name in MARKS if getattr(reading, name)}
    return own | {name for name, said in reading.options.items() if said is True}
