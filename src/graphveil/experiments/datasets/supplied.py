"""Files that the user supplies: which are needed, what stands in them, where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphveil.errors import InputError, Place

ENDINGS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True)
class SuppliedFile:
    """A file that a loader needs.

    Attributes:
        name: its name; without an ending, any of `ENDINGS` may follow.
        holds: its columns, or whatever else stands in it.
        origin: where the public original is described, as a sentence; empty if there is none.
    """

    name: str
    holds: str
    origin: str = ""

    def within(self, folder: Path) -> Path:
        """The file in the user's folder.

        Raises:
            InputError: If it is missing; says what is expected.
        """
        names = [self.name] if Path(self.name).suffix else [self.name + end for end in ENDINGS]
        for name in names:
            if (folder / name).is_file():
                return folder / name
        raise self.missing(str(folder), " or ".join(names))

    def missing(self, place: str, name: str) -> InputError:
        """The refusal that says which file to supply."""
        hint = f"Supply it with {self.holds}."
        return InputError(
            f"the file {name} is missing",
            place=Place(place),
            hint=f"{hint} {self.origin}" if self.origin else hint,
        )


def require_folder(place: str, files: tuple[SuppliedFile, ...], usage: str) -> Path:
    """The user's folder, before anything is read."""
    folder = Path(place)
    if not place:
        needed = "; ".join(f"{file.name} with {file.holds}" for file in files)
        origin = next((f" {file.origin}" for file in files if file.origin), "")
        raise InputError(
            "the files of this dataset are not part of graphveil",
            hint=f"Name your folder: {usage}. Needed: {needed}.{origin}",
        )
    if not folder.is_dir():
        raise InputError("there is no such folder", place=Place(place), hint=f"Usage: {usage}.")
    return folder
