"""What is refused for its size is refused before it is held: memory stays flat under attack."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphveil.errors import InputError
from graphveil.formats import ReadingOptions, read_records
from graphveil.formats.graphs import xml_walk
from graphveil.formats.options import size_of
from graphveil.formats.source_file import MOST_LINE_BYTES

MB = 1_000_000
READ = """
import sys
from graphveil.errors import InputError
from graphveil.formats import ReadingOptions, read_records
try:
    read_records([sys.argv[1]], options=ReadingOptions(most_bytes=400_000_000))
except InputError as refused:
    print(refused)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def packed(head: bytes, block: bytes, times: int) -> bytes:
    """Few bytes that unpack to very many: one gzip member over and over."""
    return gzip.compress(head) + gzip.compress(block) * times


def long_line(path: Path) -> None:
    """A cell of hundreds of megabytes, which the disk does not hold."""
    with path.open("wb") as file:
        file.write(b"node,time\n1,2001\n")
        file.truncate(390 * MB)


ATTACKS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "rows": (
        "nodes.csv.gz",
        lambda path: path.write_bytes(packed(b"node,time\n", b"a,2001\n" * (MB // 7), 500)),
        "more than 400,000,000 bytes",
    ),
    "a packed line": (
        "nodes.csv.gz",
        lambda path: path.write_bytes(packed(b"node,time\n", b"0" * MB, 390)),
        "row 2: the line has more than",
    ),
    "a line": ("nodes.csv", long_line, "row 3: the line has more than"),
    "JSON": (
        "network.json.gz",
        lambda path: path.write_bytes(packed(b'{"Nodes": [', b"[]," * (MB // 3), 500)),
        "more than 400,000,000 bytes",
    ),
    "XML": (
        "network.graphml.gz",
        lambda path: path.write_bytes(packed(b"<graphml>", b'<node id="1"/>' * (MB // 14), 500)),
        "more than 400,000,000 bytes",
    ),
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured by Linux")
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_that_is_too_large_costs_no_memory(tmp_path: Path, attack: str) -> None:
    name, make, message = ATTACKS[attack]
    make(tmp_path / name)
    run = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / name)],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    told, peak = run.stdout.splitlines()
    assert message in told
    assert len(told) < 300
    assert int(peak) < 250_000  # kB; of which Python and its libraries need half


def test_lines_up_to_the_limit_are_read(tmp_path: Path) -> None:
    for length, reads in ((MOST_LINE_BYTES, True), (MOST_LINE_BYTES + 1, False)):
        for name, pack in (("nodes.csv", bytes), ("packed.csv.gz", gzip.compress)):
            line = b"a,2001," + b"x" * (length - 7)
            (tmp_path / name).write_bytes(pack(b"node,time,more\n" + line + b"\nb,2001,\n"))
            if reads:
                assert len(read_records([tmp_path / name]).records.nodes.frame) == 2
            else:
                with pytest.raises(InputError, match="row 2: the line has more than 1,048,576"):
                    read_records([tmp_path / name])


def test_a_graphml_file_of_too_many_elements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xml_walk, "MOST_ELEMENTS", 3)
    path = tmp_path / "network.graphml"
    path.write_text("<graphml><graph>\n" + '<node id="1"/>\n' * 4 + "</graph></graphml>")
    with pytest.raises(InputError, match="row 5: there are more than 3 nodes and edges"):
        read_records([path], options=ReadingOptions(time="x"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("7", 7), ("500MB", 500 * MB), ("2GB", 2000 * MB), ("2 GiB", 2 << 30), ("3k", 3000)],
)
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "0GB", "-1", "1.5GB", "many", "1PB", "9" * 40])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(Exception, match="limit: must be a size such as 500MB or 2GB"):
        size_of(text)
