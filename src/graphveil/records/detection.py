"""Which format each file of a set has, by its content.

A file that only one format claims has that format; a claim to some columns gives way to a
claim to these and more. A file that several claim goes with the formats of the other files.
Where that does not decide, the formats must at least agree on the columns that they would read;
otherwise the files are refused and the user has to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from graphveil.errors import InputError, Place
from graphveil.hints import Hint
from graphveil.records.columns import is_known, listed, plain
from graphveil.records.dates import look_like_dates
from graphveil.records.delimited import DelimitedTable
from graphveil.records.format import Claim, Claimed, Format, format_named, registered
from graphveil.records.held_tables import is_address, is_r_data, table_at, tables_in_r_data
from graphveil.records.options import DEFAULTS, ReadingOptions
from graphveil.records.source_file import Ceiling, SourceFile, require_file, unique_names
from graphveil.records.table_file import table_file
from graphveil.records.workbooks import is_workbook, sheets_of

_KNOWN_COLUMNS = ("node", "time", "source", "target", "id", "id1", "id2", "infected_by", "infector")
_PREFERRED = "pair"  # of formats that would read the same columns
_CLOSE = 0.7
_SHOWN = 2  # columns that a message offers to rename
_LONGEST = 40  # letters of a column's name that a message offers
_ALL = Hint("formats")
_NAME_THEM = Hint.joined(Hint("name-columns"), _ALL)

Claims = dict[str, Claim]


def detected(
    files: Sequence[SourceFile],
    format_name: str | None,
    options: ReadingOptions,
    by_format: Mapping[str, ReadingOptions],
) -> list[tuple[Format, Claimed]]:
    """The format of each file, in their order."""
    if format_name is not None:
        chosen = format_named(format_name)
        own = by_format.get(format_name, options)
        return [(chosen, Claimed(file, _insisted(file, chosen, own))) for file in files]
    known = registered()
    options_of = {name: by_format.get(name, options) for name in known}
    claims = [_claims(file, known, options_of) for file in files]
    certain = {name for claim in claims if len(claim) == 1 for name in claim}
    formats = []
    for file, claim in zip(files, claims, strict=True):
        name = _decided(file, claim, certain)
        formats.append((known[name], Claimed(file, claim[name])))
    return formats


def _insisted(file: SourceFile, chosen: Format, options: ReadingOptions) -> Claim:
    claim = chosen.claims(file, True, options)
    if claim is None:
        raise InputError(
            f"the file cannot be read as {chosen.name}",
            place=Place(file.name),
            hint=f"Seen: {_seen(file)}. Expected: {chosen.looks}.{_near(file)}",
        )
    return claim


def _claims(
    file: SourceFile, known: dict[str, Format], options_of: Mapping[str, ReadingOptions]
) -> Claims:
    by_name = {name: known[name].claims(file, False, options_of[name]) for name in known}
    claims = {name: claim for name, claim in by_name.items() if claim is not None}
    if not claims:
        raise InputError(
            "the content is not in a known format",
            place=Place(file.name),
            hint=_hint(file),
        )
    left = {name: claim for name, claim in claims.items() if not _is_outdone(claim, claims)}
    whole = {name: claim for name, claim in left.items() if claim.role == "network"}
    return whole if any(claim.question for claim in left.values()) and whole else left


def _is_outdone(claim: Claim, claims: Claims) -> bool:
    """Whether another format claims the same columns and more."""
    columns = set(claim.columns)
    return bool(columns) and any(columns < set(other.columns) for other in claims.values())


def _decided(file: SourceFile, claims: Claims, certain: set[str]) -> str:
    for claim in claims.values():
        if claim.question:
            raise InputError(claim.question, place=Place(file.name), hint=claim.answer)
    left = [name for name in claims if name in certain] or list(claims)
    if len({claims[name].columns for name in left}) > 1:
        raise InputError(
            f"the content fits several formats: {', '.join(left)}",
            place=Place(file.name),
            hint=_which(claims, left),
        )
    return _PREFERRED if _PREFERRED in left else left[0]


def _which(claims: Claims, left: Sequence[str]) -> str:
    """How to say which columns are meant, where formats differ in nothing else."""
    people = [claims[name].columns for name in left if claims[name].role == "nodes"]
    if len(people) == len(left) and all(people):  # without a header row there are no names
        return Hint("which-person", columns=" or ".join(columns[0] for columns in people))
    return "Say which one it is with the option format."


def _seen(file: SourceFile) -> str:
    """What a file looks like, without any text that may be people's ids."""
    if file.held is not None:
        return f"{file.held.kind} with the columns {listed(file.held.frame.columns)}"
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


def _hint(file: SourceFile) -> str:
    near = _near(file)
    guess = "" if near else _guess(file)
    return guess or Hint.joined(f"Seen: {_seen(file)}.{near}", "" if near else _advice(file))


def _guess(file: SourceFile) -> str:
    """The columns and what they may be, where the first line is a header beyond doubt.

    That is: a column of dates has a name that is none. Else the line may hold ids.
    """
    if file.held is None and not _is_text(file):
        return ""
    table = table_file(file)
    dates = [name for name in table.date_columns() if not look_like_dates([name])]
    others = [name.strip() for name in table.names if name.strip() and name not in dates]
    if not dates or not others or any(map(is_known, table.names)):
        return ""
    first, second = others[0][:_LONGEST], others[1][:_LONGEST] if others[1:] else ""
    people = {"columns": listed(table.names), "id": first, "time": dates[0].strip()[:_LONGEST]}
    if not second:
        return Hint.joined(Hint("guess-people", **people), _ALL)
    return Hint.joined(Hint("guess-links", **people, source=first, target=second), _ALL)


def _advice(file: SourceFile) -> str:
    return _NAME_THEM if _is_text(file) else _ALL


def _is_text(file: SourceFile) -> bool:
    return file.held is not None or _seen(file).startswith("text whose")


def _near(file: SourceFile) -> str:
    """Column names that are nearly ours; words only, since a first line may hold ids."""
    try:
        names = table_file(file).names
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


# The files, sheets and tables that a user's words mean.
#
# A word is a path, a path and a part of it (`cases.xlsx#Contacts`, `outbreak.rds#linelist`), or
# the address of a database with a table or a query (`sqlite:///cases.db#people`).


def found_files(
    words: Sequence[str | Path], options: ReadingOptions = DEFAULTS
) -> list[SourceFile]:
    """Every file, sheet or table, each under a name of its own."""
    texts, ceiling = [str(word) for word in words], Ceiling(options.object_bytes)
    tables = [table_at(text, options, ceiling) for text in texts if is_address(text)]
    for text in texts:
        if not is_address(text):
            require_file(_divided(text)[0])
    paths, parts = _parts([text for text in texts if not is_address(text)])
    for path, name in zip(parts, unique_names(paths), strict=True):
        for part in dict.fromkeys(parts[path]):
            tables += _inside(path, part, name, options, ceiling)
    return tables


def _parts(texts: Sequence[str]) -> tuple[list[Path], dict[Path, list[str]]]:
    """The paths, and the parts of each that are asked for; nothing asks for all of it."""
    paths: list[Path] = []
    parts: dict[Path, list[str]] = {}
    for text in texts:
        path, part = _divided(text)
        if not part or path not in parts:
            paths.append(path)
        parts.setdefault(path, []).append(part)
    return paths, parts


def _divided(text: str) -> tuple[Path, str]:
    """A path, and the part after # where no file has the whole name."""
    before, mark, part = text.rpartition("#")
    if mark and part and "\0" not in text and not Path(text).exists() and Path(before).is_file():
        return Path(before), part
    return Path(text), ""


def _inside(
    path: Path, part: str, name: str, options: ReadingOptions, ceiling: Ceiling
) -> list[SourceFile]:
    if is_workbook(path):
        return sheets_of(path, part, name, options, ceiling)
    if is_r_data(path):
        return tables_in_r_data(path, part, name, options, ceiling)
    whole = Path(f"{path}#{part}") if part else path
    return [SourceFile.found(whole, name, options, ceiling)]
