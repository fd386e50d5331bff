"""The files of a report: which ones exist, what they contain, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StorageError
from graphveil.study.public.chain import digest
from graphveil.study.storage.folder import make_public_folder
from graphveil.whole_files import write_bytes

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart


# What the files of a series are called: after it, as far as file systems allow.


LONGEST = 200  # there are studies from before series had a longest name


def file_name(series: str) -> str:
    """The name without its ending; one that is too long is cut."""
    return series if len(series) <= LONGEST else f"{series[:100]}-{digest(series)[:16]}"


@dataclass(frozen=True)
class Artefact:
    """A file of the public part that follows from the study file and the ledger.

    Attributes:
        path: where it lies, under the public folder.
        drawn: whether it has charts in it, which take a second to draw.
        make: its content; nothing is computed before it is asked for.
    """

    path: str
    drawn: bool
    make: Callable[[], bytes] = field(repr=False)


def artefacts(part: PublicPart) -> tuple[Artefact, ...]:
    """Every file of the report, in the order in which they are written."""
    return tuple(_listed(part))


def _listed(part: PublicPart) -> Iterator[Artefact]:
    from graphveil.report import card, charts, page
    from graphveil.report import public_tables as tables

    published = {each.series: each for each in part.series if each.releases}

    @cache  # the picture is made from the drawing
    def drawing(name: str) -> bytes:
        return charts.drawing(published[name], part.promise.calendar)

    for each in tables.tables_of(part):
        yield Artefact(each.file, False, partial(each.content, part))
    for name, series in published.items():
        made = partial(tables.series_table, series)
        yield Artefact(f"charts/{file_name(name)}.csv", False, made)
    yield Artefact("card.json", False, partial(card.as_json, part))
    for name in published:
        file = file_name(name)
        yield Artefact(f"charts/{file}.svg", True, partial(drawing, name))
        yield Artefact(f"charts/{file}.png", True, partial(_picture, drawing, name))
    yield Artefact("report.html", True, partial(page.page, part))


def _picture(drawing: Callable[[str], bytes], name: str) -> bytes:
    from graphveil.report.charts import picture

    return picture(drawing(name))


def write(public: Path) -> tuple[Path, ...]:
    """Write the report of a `public` folder into it, each file whole or not at all."""
    from graphveil.study.public.public_part import PublicPart

    return write_part(public, PublicPart.read_newest(public))


def write_part(public: Path, part: PublicPart) -> tuple[Path, ...]:
    """The same for a part that was read from it already."""
    written = []
    for each in artefacts(part):
        path = public / each.path
        _make_folder(path.parent)
        write_bytes(path, each.make())
        written.append(path)
    return tuple(written)


def _make_folder(folder: Path) -> None:
    try:
        make_public_folder(folder)
    except OSError as error:
        raise StorageError(f"'{folder.name}' cannot be created: {error.strerror}.") from error
