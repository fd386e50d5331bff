"""People and links in tables of any origin: line lists with contacts beside them, lists of pairs.

Columns are known by many names, or named by the steward. Where two may be meant, nothing is
guessed: the refusal says which, and how to say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from graphveil.hints import Hint
from graphveil.records.columns import (
    INFECTORS,
    bare,
    known_ends,
    known_ids,
    listed,
    plain,
    requested_names,
)
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.records.options import ReadingOptions
from graphveil.records.selection import read_table
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import claimed_table

_CLOSE = 0.9
_OF_MICROBETRACE = "id"  # whose node lists are read alike


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted)
    if table is None:
        return None
    names = table.names
    if ends := requested_names(names, options.source, options.target):
        return Claim("edges", f"{table.kind} with {' and '.join(ends)}, as you say", ends)
    if named := requested_names(names, options.id):
        return Claim("nodes", f"{table.kind} with {named[0]}, as you say", named)
    return _known(names, table.kind)


def _known(names: Sequence[str], kind: str) -> Claim | None:
    """What the columns' own names say."""
    ends, ids = known_ends(names), known_ids(names)
    others = [name for name in ids if not any(name in pair for pair in ends)]
    if len(ends) > 1 or (ends and others):
        pair, either = ends[0], [" and ".join(pair) for pair in ends] + others
        return Claim(
            "edges", kind, tuple(name for pair in ends for name in pair),
            question=f"people or links may be meant: {listed(either)}",
            answer=Hint("name-ends-or-id", source=pair[0], target=pair[1], id=others[0])
            if others else Hint("name-ends", source=pair[0], target=pair[1]),
        )  # fmt: skip
    if ends:
        return Claim("edges", f"{kind} with {' and '.join(ends[0])}", ends[0])
    ids = [name for name in ids if plain(name) != _OF_MICROBETRACE]
    if len(ids) > 1:
        question = f"several columns may name a person: {listed(ids)}"
        return Claim(
            "nodes", kind, tuple(ids), question=question, answer=Hint("name-id", id=ids[0])
        )
    return _people(ids[0], names, kind) if ids else None


def _people(person: str, names: Sequence[str], kind: str) -> Claim:
    """A list of people, unless it may be meant to name infectors: these would be lost."""
    for name in names:
        near = get_close_matches(bare(name), INFECTORS, n=1, cutoff=_CLOSE)
        if near:
            return Claim(
                "nodes", kind, (person,),
                question=f"may the column '{name.strip()}' say who infected the person",
                answer=Hint("infector", source=name.strip(), id=person),
            )  # fmt: skip
    return Claim("nodes", f"{kind} with {person}", (person,))


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_table(each, CONTACTS.name, options) for each in files]


CONTACTS = register(
    Format(
        name="contacts",
        summary="people and contacts in tables",
        looks="tables: people with an id such as case_id; links with two, such as from and to; or "
        "you name the columns",
        claims=_claims,
        read=_read,
    )
)
