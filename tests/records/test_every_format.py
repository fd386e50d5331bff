"""What every registered format keeps: it explains itself, and refuses what it cannot read."""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules

import pytest

from format_examples import EXAMPLES
from graphveil.errors import InputError
from graphveil.records import ReadingOptions, read_records, readers
from graphveil.records.format import registered

FORMATS = registered()
OPTIONS = {example.format: example.options for example in EXAMPLES}
BINARY = bytes(range(256)) * 8
LONGEST_MESSAGE = 300
PARSED = ("hivtrace", "graphml", "gexf", "pajek", "microbetrace-session")
HEADERLESS = ("snap", "snap-temporal")
SHARED = {"tables": ("pair", "contacts", "godata"), "xml-graphs": ("graphml", "gexf")}

every_format = pytest.mark.parametrize("name", sorted(FORMATS))


def refusal(path: Path, format_name: str | None, options: ReadingOptions) -> InputError:
    with pytest.raises(InputError) as told:
        read_records([path], format=format_name, options=options)
    return told.value


def test_each_file_of_readers_has_the_formats_of_its_name_or_is_shared_by_twins() -> None:
    """So that one knows where to look: `snap` has snap and snap-temporal."""
    modules = {module.name.replace("_", "-") for module in iter_modules(readers.__path__)}
    assert modules <= FORMATS.keys() | SHARED.keys()
    named = modules | {name for shared in SHARED.values() for name in shared}
    for name in FORMATS:
        assert any(name == each or name.startswith(f"{each}-") for each in named), name


@every_format
def test_it_says_what_it_is_and_how_its_files_look(name: str) -> None:
    format_ = FORMATS[name]
    assert format_.name == name
    for text in (format_.summary, format_.looks):
        assert text == text.strip(" .")
        assert len(text) > 5
    assert len(format_.summary) < len(format_.looks) < LONGEST_MESSAGE / 2


@every_format
def test_it_recognises_its_own_examples(name: str) -> None:
    own = [example for example in EXAMPLES if example.format == name]
    assert own
    for example in own:
        report = read_records(example.paths, options=example.options).report
        assert {file.format for file in report.files} == {name}
        assert all(file.why for file in report.files)


@every_format
@pytest.mark.parametrize("content", [b"", b"\n \n", BINARY], ids=["empty", "blank", "binary"])
@pytest.mark.parametrize("insisted", [False, True])
def test_it_refuses_what_holds_no_records(
    tmp_path: Path, name: str, content: bytes, insisted: bool
) -> None:
    (tmp_path / "file").write_bytes(content)
    if insisted and content != BINARY and name in HEADERLESS:  # it may have lost its last line
        found = read_records([tmp_path / "file"], format=name).records
        assert (len(found.nodes.frame), len(found.edges.frame)) == (0, 0)
        return
    told = refusal(tmp_path / "file", name if insisted else None, OPTIONS[name])
    assert told.place is not None
    assert told.place.source == "file"
    assert told.hint.endswith((".", "?"))
    assert len(str(told)) < LONGEST_MESSAGE


@every_format
def test_its_refusal_says_what_it_expects(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("colour;shape\nred;round\n")
    told = refusal(tmp_path / "file", name, OPTIONS[name])
    if name not in PARSED:  # these begin to parse, and say where that fails
        assert FORMATS[name].looks in str(told)
    assert len(str(told)) < LONGEST_MESSAGE
