"""Tables of people and of links: the native pair, Go.Data's exports, and tables of any origin.

Of any origin, such as a line list with contacts beside it: columns are known by many names, or
named by the steward. Where two may be meant, nothing is guessed: the refusal says which, and how to
say it.

Go.Data is WHO's software for outbreaks. People are named by its own id, which a contact keeps when
it becomes a case; the id that is shown, such as CASE-0007, changes then. Records that were deleted
are exported as well, marked as such, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from graphveil.hints import Hint
from graphveil.records.columns import (
    INFECTORS,
    bare,
    is_mapped,
    known_ends,
    known_ids,
    listed,
    names_by_text,
    plain,
    requested_names,
)
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.records.options import ReadingOptions
from graphveil.records.parquet import is_parquet
from graphveil.records.selection import read_table
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import claimed_table, table_file

_CLOSE = 0.9
_OF_MICROBETRACE = "id"  # whose node lists are read alike
# Columns as exports call them, without blanks and marks, and as WHO's scripts for R do.
_ENDS = (("sourceuid", "targetuid"), ("sourceuuid", "targetuuid"))
_OWN_ID, _SHOWN_ID, _ALWAYS = ("id", "uuid"), ("caseid", "contactid", "visualid"), "dateofreporting"
_DELETED = "deleted"
_NOT_DELETED = "!=true|yes|1"


def _claims_pair(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted or is_parquet(file))
    if table is None:
        return None
    theirs = names_by_text(table.names)
    linked = {"source", "target"} <= theirs.keys()
    if linked == ("node" in theirs) or is_mapped(table.names, options):
        return None
    columns = ("source", "target") if linked else ("node",)
    return Claim(
        "edges" if linked else "nodes",
        f"{table.kind} with {' and '.join(columns)}",
        tuple(theirs[name] for name in columns),
    )


def _read_pair(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_table(each, PAIR.name, options) for each in files]


PAIR = register(
    Format(
        name="pair",
        summary="tables of nodes and edges",
        looks="CSV (also gzipped) or Parquet: nodes(node, time) and edges(source, target[, time])",
        claims=_claims_pair,
        read=_read_pair,
    )
)


def _claims_contacts(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
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


def _read_contacts(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_table(each, CONTACTS.name, options) for each in files]


CONTACTS = register(
    Format(
        name="contacts",
        summary="people and contacts in tables",
        looks="tables: people with an id such as case_id; links with two, such as from and to; or "
        "you name the columns",
        claims=_claims_contacts,
        read=_read_contacts,
    )
)


def _claims_godata(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted)
    if table is None:
        return None
    theirs = {bare(name): name for name in reversed(table.names)}
    if is_mapped(table.names, options):
        return None
    others = tuple(theirs[name] for name in (*_OWN_ID, *_SHOWN_ID) if name in theirs)
    for ends in _ENDS:
        if set(ends) <= theirs.keys():
            columns = tuple(theirs[end] for end in ends)
            return Claim("edges", f"{table.kind} with {' and '.join(columns)}", columns + others)
    own = [theirs[name] for name in _OWN_ID if name in theirs]
    if not own or own[0] == others[-1] or _ALWAYS not in theirs:
        return None
    return Claim("nodes", f"{table.kind} with {' and '.join(others)}", others)


def _read_godata(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_part(each, options) for each in files]


def _part(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    """The people or links of a file that were not deleted."""
    deleted = names_by_text(table_file(claimed.file).names).get(_DELETED)
    if deleted is None:
        return read_table(claimed, GODATA.name, options)
    living = replace(options, where=(*options.where, f"{deleted}{_NOT_DELETED}"))
    found = read_table(claimed, GODATA.name, living)
    said = (each for each in found.conditions if each.column != deleted)
    return replace(found, conditions=frozenset(said))


GODATA = register(
    Format(
        name="godata",
        summary="Go.Data exports",
        looks="tables that Go.Data exported: cases and contacts with ID and Case ID, "
        "relationships with Source.UID and Target.UID",
        claims=_claims_godata,
        read=_read_godata,
    )
)
