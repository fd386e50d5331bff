"""A real browser at the local page, and the files that a person brings to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xlsxwriter

from browser import Page, opened_page
from required import require_browser
from sites import Served

PATIENTS = [(f"P{n:03}", f"{2021 + n % 3}-0{1 + n % 9}-15", f"ward {1 + n % 4}") for n in range(60)]
CONTACTS = [(f"P{n:03}", f"P{(n * 7 + 3) % 60:03}") for n in range(45) if n != (n * 7 + 3) % 60]


@contextmanager
def browsing(
    server: Served, profile: Path, *, width: int = 1280, dark: bool = False
) -> Iterator[Page]:
    """A browser that was let in by the address of the terminal."""
    require_browser()
    with opened_page("about:blank", profile, width=width, dark=dark) as page:
        page.ask("Page.navigate", url=server.address)
        page.wait_until("location.pathname === '/' && document.readyState === 'complete'")
        yield page


def excel(path: Path) -> Path:
    """A workbook as a clinic keeps it: names of columns that nobody foresaw."""
    with xlsxwriter.Workbook(path) as book:
        for name, header, rows in (
            ("Patients", ("Pat No", "Diagnosed", "Ward"), PATIENTS),
            ("Contacts", ("Named by", "Named"), CONTACTS),
        ):
            sheet = book.add_worksheet(name)
            for place, row in enumerate([header, *rows]):
                sheet.write_row(place, 0, row)
    return path


def hivtrace(path: Path) -> Path:
    """Results of HIV-TRACE, with two dates for each person."""
    linked = sorted({name for pair in CONTACTS for name in pair})
    entries = {
        name: {"id": f"{name}|seq1", "patient_attributes": {"dx_date": date, "sample_date": date}}
        for name, date, _ in PATIENTS
    }
    edges = [
        {"source": linked.index(a), "target": linked.index(b), "length": 0.01, "removed": False}
        for a, b in CONTACTS
    ]
    network: dict[str, Any] = {
        "Nodes": [entries[name] for name in linked],
        "Edges": edges,
        "Singletons": [entries[name] for name in entries if name not in linked],
    }
    path.write_text(json.dumps({"trace_results": network}))
    return path


def complaints(page: Page) -> list[Any]:
    """What the browser has to say against a page: errors of scripts, and what was blocked."""
    told = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    logged = [each for each in page.told("Log.entryAdded") if each["entry"]["level"] == "error"]
    return [*logged, *(each for event in told for each in page.told(event))]


def foreign(page: Page, origin: str) -> list[str]:
    """Requests that went anywhere else."""
    asked = (each["request"]["url"] for each in page.told("Network.requestWillBeSent"))
    return [url for url in asked if not url.startswith((origin, "data:", "about:"))]
