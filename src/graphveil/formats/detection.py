"""Which format each file of a set has, by its content.

A file that only one format claims has that format; a claim to some columns gives way to a
claim to these and more. A file that several claim goes with the formats of the other files.
Where that does not decide, the formats must at least agree on the columns that they would read;
otherwise the files are refused and the user has to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import plain
from graphveil.formats.format import Claim, Claimed, Format, format_named, registered
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.delimited import DelimitedTable

_KNOWN_COLUMNS = ("node", "time", "source", "target", "id", "id1", "id2", "infected_by", "infector")
_PREFERRED = "pair"  # of formats that would read the same columns
_CLOSE = 0.7
_SHOWN = 2  # columns that a message offers to rename
_EXPECTS = "Name one with the option format to see what it expects."

Claims = dict[str, Claim]


def detected(files: Sequence[SourceFile], format_name: str | None) -> list[tuple[Format, Claimed]]:
    """The format of each file, in their order."""
    if format_name is not None:
        chosen = format_named(format_name)
        return [(chosen, Claimed(file, _insisted(file, chosen))) for file in files]
    known = registered()
    claims = [_claims(file, known) for file in files]
    certain = {name for claim in claims if len(claim) == 1 for name in claim}
    found = []
    for file, claim in zip(files, claims, strict=True):
        name = _decided(file, claim, certain)
        found.append((known[name], Claimed(file, claim[name])))
    return found


def _insisted(file: SourceFile, chosen: Format) -> Claim:
    claim = chosen.claims(file, True)
    if claim is None:
        raise InputError(
            f"the file cannot be read as {chosen.name}",
            place=Place(file.name),
            hint=f"Seen: {_seen(file)}. Expected: {chosen.looks}.{_near(file)}",
        )
    return claim


def _claims(file: SourceFile, known: dict[str, Format]) -> Claims:
    found = {name: known[name].claims(file, False) for name in known}
    claims = {name: claim for name, claim in found.items() if claim is not None}
    if not claims:
        formats = f" Known formats: {', '.join(known)}. {_EXPECTS}"
        raise InputError(
            "the content is not in a known format",
            place=Place(file.name),
            hint=f"Seen: {_seen(file)}.{_near(file) or formats}",
        )
    return {name: claim for name, claim in claims.items() if not _is_outdone(claim, claims)}


def _is_outdone(claim: Claim, claims: Claims) -> bool:
    """Whether another format knows what to do with the same columns and more."""
    mine = set(claim.columns)
    return bool(mine) and any(mine < set(other.columns) for other in claims.values())


def _decided(file: SourceFile, claims: Claims, certain: set[str]) -> str:
    left = [name for name in claims if name in certain] or list(claims)
    if len({claims[name].columns for name in left}) > 1:
        raise InputError(
            f"the content fits several formats: {', '.join(left)}",
            place=Place(file.name),
            hint="Say which one it is with the option format.",
        )
    return _PREFERRED if _PREFERRED in left else left[0]


def _seen(file: SourceFile) -> str:
    """What a file looks like, without a word of what may be people's ids."""
    if not file.head:
        return "an empty file"
    if b"\0" in file.head:
        return "bytes that are not text"
    for start, kind in ((b"{", "JSON"), (b"<", "XML")):
        if file.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(start):
            return kind
    try:
        names = DelimitedTable.of(file).names
    except InputError:
        return "text without a first line"
    if any("\ufffd" in name for name in names):
        return "bytes that are not UTF-8 text"
    ours = [plain(name) for name in names if plain(name) in _KNOWN_COLUMNS]
    known = f"known names: {', '.join(ours)}" if ours else "none with a known name"
    return f"text whose first line has {len(names)} columns, {known}"


def _near(file: SourceFile) -> str:
    """Column names that are nearly ours; words only, since a first line may hold ids."""
    try:
        names = DelimitedTable.of(file).names
    except InputError:
        return ""
    hints = []
    for name in names:
        near = get_close_matches(plain(name), _KNOWN_COLUMNS, n=1, cutoff=_CLOSE)
        if near and near[0] != plain(name) and _is_word(name):
            hints.append(f" Is the column '{name.strip()}' meant to be '{near[0]}'? Rename it.")
    return "".join(hints[:_SHOWN])


def _is_word(name: str) -> bool:
    return name.strip().replace("_", "").isalpha()
