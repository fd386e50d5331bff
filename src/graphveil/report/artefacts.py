"""The files of a report: which ones exist, what they contain, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StorageError
from graphveil.study.chain import digest
from graphveil.study.folder import make_public_folder
from graphveil.whole_files import write_bytes

if TYPE_CHECKING:
    from graphveil.study.public_part import PublicPart


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
    from graphveil.report import card, charts, page, public_tables
    from graphveil.report.estimates import with_estimates

    part = with_estimates(part)
    published = {each.series: each for each in part.series if each.releases}

    for each in public_tables.tables_of(part):
        yield Artefact(each.file, False, partial(each.content, part))
    for name, series in published.items():
        made = partial(public_tables.series_table, series)
        yield Artefact(f"charts/{file_name(name)}.csv", False, made)
    yield Artefact("card.json", False, partial(card.as_json, part))
    yield Artefact(public_tables.PACKAGE, False, partial(public_tables.data_package, part))
    yield Artefact(public_tables.DATASET, False, partial(public_tables.dataset, part))
    for name, series in published.items():
        drawn = partial(charts.drawing, series, part.promise.calendar)
        yield Artefact(f"charts/{file_name(name)}.svg", True, drawn)
    yield Artefact("report.html", True, partial(page.page, part))


def write(public: Path) -> tuple[Path, ...]:
    """Write the report of a `public` folder into it, each file whole or not at all."""
    from graphveil.study.public_part import PublicPart

    return write_part(public, PublicPart.read_newest(public))


def write_part(public: Path, part: PublicPart) -> tuple[Path, ...]:
    """The same for a part that was read from it already."""
    written = []
    for each in artefacts(part):
        path = public / each.path
        _make_folder(path.parent)
        write_bytes(path, each.make())
        written.append(path)
    _remove_pictures(public, part)
    return tuple(written)


def _remove_pictures(public: Path, part: PublicPart) -> None:
    """Remove what earlier versions made of drawings as PNG: it shows older numbers by now."""
    for each in part.series:
        picture = public / "charts" / f"{file_name(each.series)}.png"
        if picture.is_file() and not picture.is_symlink():
            picture.unlink()


def _make_folder(folder: Path) -> None:
    try:
        make_public_folder(folder)
    except OSError as error:
        raise StorageError(f"'{folder.name}' cannot be created: {error.strerror}.") from error
