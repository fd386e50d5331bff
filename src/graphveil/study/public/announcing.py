"""Announcing: the public part is written from what was committed, never the other way round."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from graphveil.errors import IntegrityError
from graphveil.study.ledger import Ledger
from graphveil.study.promise.promise import Promise
from graphveil.study.public.chain import PublicRow, read_rows
from graphveil.study.public.public_part import require_agreement, text_of
from graphveil.study.public.shown import Shown
from graphveil.study.storage.folder import Folder
from graphveil.whole_files import write_bytes


@dataclass(frozen=True)
class Told:
    """What the public part says, at one moment.

    It is read before the ledger, never after: whoever announces has committed before, so that
    a ledger which is read later knows all of it, whatever others do meanwhile.
    """

    text: str
    study_file: str
    shown: Shown = field(default_factory=Shown)

    @cached_property
    def rows(self) -> tuple[PublicRow, ...]:
        """The public chain, read row by row; refuses one that is not whole."""
        return read_rows(self.text, "public/ledger.jsonl")

    def is_told_by(self, ledger: Ledger) -> bool:
        """Whether it is what the ledger says, or the beginning of that, to the byte.

        Then its chain is whole: it is the one that was made from the ledger.
        """
        whole_lines = not self.text or self.text.endswith("\n")
        return whole_lines and ledger.public_text.startswith(self.text)


def told(folder: Folder) -> Told:
    """What the public part says now."""
    ledger = text_of(folder.public_ledger) if folder.public_ledger.exists() else ""
    return Told(ledger, text_of(folder.study_file), Shown.of(folder.public))


def announce(folder: Folder, ledger: Ledger) -> None:
    """Write the study file and the public chain, where they are not yet as committed."""
    # The chain comes first: a study file that lacks the newest series is an earlier one, but a
    # chain that lacks a series of the study file contradicts it.
    texts = {
        folder.public_ledger: ledger.public_text,
        folder.study_file: ledger.versions[-1].to_toml(),
    }
    for path, text in texts.items():
        if not path.exists() or path.read_bytes() != text.encode():
            write_bytes(path, text.encode())


def require_agreeing_file(public: Told, ledger: Ledger) -> None:
    """Refuse a study file that disagrees with the ledger."""
    if not ledger.is_open or public.study_file == ledger.versions[-1].to_toml():
        return
    found = Promise.from_toml(public.study_file, "public/study.toml")
    # A version from before the newest series is fine: a process was killed before it wrote.
    require_agreement(found, ledger.versions, "public/study.toml", "the ledger")


def require_newest(public: Told, ledger: Ledger) -> None:
    """Refuse a database that knows less than the public was told: it is an older copy.

    Continuing from it would publish different numbers for steps that are already published.
    """
    newer = public.shown.newer_than({row.hash for row in ledger.public_lines}, len(ledger.sealed))
    if newer is not None:
        raise IntegrityError(
            f"public/{newer} shows more than the ledger database knows; most likely an older copy "
            "was restored. Nothing was published: published steps must not be drawn again. Restore "
            "the newest private folder; only if that file is wrong itself, remove it."
        )
    if public.is_told_by(ledger):
        return
    rows, known = public.rows, ledger.public_rows
    if rows == known[: len(rows)]:
        return
    number = next(
        (n for n, (a, b) in enumerate(zip(rows, known, strict=False)) if a != b), len(known)
    )
    raise IntegrityError(
        f"the ledger database lacks row {number} of public/ledger.jsonl ({rows[number].event}, "
        f"{rows[number].at}); most likely an older copy was restored. Nothing was published: "
        "published steps must not get new noise. Restore the newest private folder; if it is "
        "lost, open a new study, whose ε adds to this one's."
    )
