"""Records: files are brought, looked at, and added or discarded; what is shown is private."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.hints import in_words
from graphveil.steward.adding import Addition, abandon, add, withdraw
from graphveil.steward.custody import KnownStudy
from graphveil.steward.previewing import (
    Preview,
    Sample,
    known_formats,
    previews,
    rules_met,
    sample,
)
from graphveil.steward.staging import CHANGED, Brought, Reading, StagingArea
from graphveil.steward.status import status
from graphveil.study.backends import AddOptions
from graphveil.web.forms import (
    MAPPED,
    Form,
    choices,
    dates_said,
    days_said,
    grouped,
    marked,
    reading_of,
    receive,
    said_by_files,
    taking_form,
)
from graphveil.web.site import Piece, go_to, page, set_to_work, site_of, study_of, within
from graphveil.web.wording import HINTS, Same, adding, refusal_of

LOOK, KEEP, HERE = "look", "keep", "records"


class Inspection:
    """The result of a look at a staging area; private, so its repr shows nothing."""

    def __init__(self, fingerprint: str, seen: Sample, addition: Addition, same: Same) -> None:
        self.fingerprint, self.seen, self.addition = fingerprint, seen, addition
        self.same = same
        self.rules = rules_met(addition)
        self.files = addition.reading.report.lines() if addition.reading else []
        self.doubt = in_words(addition.added.findings.doubt, HINTS)


def _show(request: Request) -> Response:
    study = study_of(request)
    staging, work = StagingArea.of(study.folder), site_of(request).work
    for kind in (LOOK, KEEP):
        piece = work.latest(study.key, kind)
        if piece is not None and piece.is_running:
            return go_to(request, within(study, f"work/{kind}"))
    looked, added = work.latest(study.key, LOOK), work.latest(study.key, KEEP)
    brought = staging.brought()
    reading = brought.reading
    previewed, trouble = _previewed(brought)
    state = status(study.folder)
    return page(
        request,
        "records.html.jinja",
        study=study,
        at="records",
        status=state,
        files=brought.files,
        marks=brought.marks,
        previews=previewed,
        trouble=trouble,
        reading=reading,
        mapped=MAPPED,
        choices=choices(previewed, reading),
        grouped=grouped(previewed, reading, state.groups),
        days=days_said(reading),
        by_file=said_by_files(previewed),
        time_first=dates_said(reading)[0],
        time_else=dates_said(reading)[1],
        marked=marked(reading),
        formats=known_formats(),
        looked=_still(looked, brought),
        refusal=_refusal(looked) or _refusal(added),
        kept=added.result if added else None,
    )


def _previewed(brought: Brought) -> tuple[tuple[Preview, ...], str]:
    """The files of a staging area, or why they cannot be opened."""
    reading = brought.reading
    try:
        return previews(brought.files, reading.format, reading.reading_options()), ""
    except GraphveilError as refused:
        return (), refusal_of(refused)


def _still(piece: Piece | None, brought: Brought) -> Inspection | None:
    """The result of a look, if the staging area has not changed since."""
    looked = piece.result if piece else None
    same = isinstance(looked, Inspection) and looked.fingerprint == brought.fingerprint
    return looked if same else None


def _refusal(piece: Piece | None) -> str:
    return piece.refusal if piece else ""


async def _upload(request: Request) -> Response:
    study, site = study_of(request), site_of(request)
    names = await receive(request, StagingArea.of(study.folder), site.most_bytes)
    _forget(request, study)
    if not names:
        return go_to(request, within(study, HERE), bad="Choose at least one file.")
    return go_to(request, within(study, HERE))


def _forget(request: Request, study: KnownStudy) -> None:
    for kind in (LOOK, KEEP):
        site_of(request).work.forget(study.key, kind)


def _look(request: Request, form: Form) -> Response:
    """Read and check everything, and change nothing."""
    study = study_of(request)
    staging, reading = StagingArea.of(study.folder), reading_of(form)
    try:
        reading.reading_options()
    except GraphveilError as refused:
        return go_to(request, within(study, HERE), bad=refusal_of(refused))
    staging.say(reading)
    _forget(request, study)
    task = partial(_looked, study, staging)
    return set_to_work(request, study, LOOK, "Reading and checking the files", task, after=HERE)


def _looked(study: KnownStudy, staging: StagingArea, _: Piece) -> Inspection:
    brought = staging.brought()
    reading = brought.reading
    with staging.held(brought) as files:
        addition = add(study.folder, files, **_how(reading, dry_run=True))
        seen = sample(files, reading.format, reading.reading_options())
    return Inspection(brought.fingerprint, seen, addition, _same(study, brought))


def _same(study: KnownStudy, brought: Brought) -> Same:
    """What does the same elsewhere."""
    return adding(study.folder, [path.name for path in brought.files], brought.reading)


def _how(reading: Reading, *, dry_run: bool = False) -> dict[str, Any]:
    marked = (reading.complete, reading.strict, reading.yes, reading.ignore_after_end)
    return {
        "format": reading.format,
        "options": reading.reading_options(),
        "how": AddOptions(*marked, dry_run=dry_run),
        "change_reading": reading.change_reading,
    }


def _keep(request: Request, form: Form) -> Response:
    """Add the records of exactly the files that were looked at."""
    study = study_of(request)
    staging = StagingArea.of(study.folder)
    brought = staging.brought()
    if not brought.files or form["fingerprint"] != brought.fingerprint:
        return go_to(request, within(study, HERE), bad=CHANGED.capitalize())

    def task(_: Piece) -> Inspection:
        with staging.held(brought) as files:
            names = [path.name for path in files]  # a mended file has its name again
            addition = add(study.folder, files, **_how(brought.reading), called=names)
        staging.remove(brought.marks)
        return Inspection("", Sample(), addition, _same(study, brought))

    return set_to_work(request, study, KEEP, "Keeping the records", task, after=HERE)


def _discard(request: Request, form: Form) -> Response:
    """Remove the files that the page has shown."""
    study = study_of(request)
    StagingArea.of(study.folder).remove(form.every("file"))
    _forget(request, study)
    return go_to(request, within(study, HERE), good="The files are removed. Nothing was kept.")


def _withdraw(request: Request, form: Form) -> Response:
    study = study_of(request)
    number = form["batch"]
    if not number.isdecimal():
        return go_to(request, within(study, HERE), bad="Say which batch is to be withdrawn.")
    withdraw(study.folder, int(number))
    message = f"Batch {number} was withdrawn: it will not be published."
    return go_to(request, within(study, HERE), good=message)


def _abandon(request: Request, _: Form) -> Response:
    study = study_of(request)
    abandon(study.folder)
    message = "These records are given up: steps can be published without them."
    return go_to(request, within(study, HERE), good=message)


ROUTES = [
    Route("/study/{key}/records", _show, methods=["GET"]),
    Route("/study/{key}/records/upload", _upload, methods=["POST"]),
    Route("/study/{key}/records/look", taking_form(_look), methods=["POST"]),
    Route("/study/{key}/records/keep", taking_form(_keep), methods=["POST"]),
    Route("/study/{key}/records/discard", taking_form(_discard), methods=["POST"]),
    Route("/study/{key}/records/abandon", taking_form(_abandon), methods=["POST"]),
    Route("/study/{key}/records/withdraw", taking_form(_withdraw), methods=["POST"]),
]
