"""What is refused for its size is refused before it is held: memory stays flat under attack."""

from __future__ import annotations

import gzip
import json
import sqlite3
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
import rdata

from graphveil.errors import InputError
from graphveil.records import ReadingOptions, options, read_records
from graphveil.records.options import size_of
from graphveil.records.source_file import MOST_LINE_BYTES

MB = 1_000_000
READ = """
import sys
from graphveil.errors import InputError
from graphveil.records import ReadingOptions, read_records
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
        lambda path: path.write_bytes(packed(b'{"Nodes": [', b"{}," * (MB // 3), 390)),
        "would take more than 3,200,000,000 bytes of memory",
    ),
    "XML": (
        "network.graphml.gz",
        lambda path: path.write_bytes(packed(b"<graphml>", b'<node id="1"/>' * (MB // 14), 390)),
        "would take more than 3,200,000,000 bytes of memory",
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


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> int:
    """A small ceiling on memory."""
    monkeypatch.setattr(options, "MOST_OBJECT_BYTES", 560_000)
    return 560_000


def small_gzip(text: str) -> bytes:
    return gzip.compress(text.encode())


MANY = 2000
NODES = "".join(f'<node id="{n}"/>' for n in range(MANY))
FEW = NODES[: NODES.index('<node id="500"')]
DEFAULT = f'<key id="t" for="node" attr.name="time"><default>{"x" * 8000}</default></key>'
SPREAD = json.dumps({"Nodes": [{f"f{n}": 1} for n in range(MANY)], "Edges": []})
SHARED = {"keys": {"0": "x" * 8000}, "values": [0] * MANY}
COMPACT = json.dumps({"Nodes": {"id": SHARED}, "Edges": []})
# Each is far below the limit on bytes, and would take far more memory than it has bytes.
SWELLING: dict[str, tuple[str, bytes]] = {
    "JSON": ("a.json.gz", small_gzip('{"Nodes": [' + "{}," * 9000 + "{}]}")),
    "JSON of fields that nobody shares": ("a.json", SPREAD.encode()),
    "compact JSON of one long text": ("a.json", COMPACT.encode()),
    "session": ("a.microbetrace", small_gzip('{"data": {"nodes": [' + "{}," * 9000 + "{}]}}")),
    "GraphML": ("a.graphml.gz", small_gzip(f"<graphml><graph>{NODES}</graph></graphml>")),
    "GraphML with a prefix": (
        "a.graphml",
        f'<g:graphml xmlns:g="x"><g:graph>{NODES}</g:graph></g:graphml>'.replace(
            "<node", "<g:node"
        ).encode(),
    ),
    "GraphML with a long default": (
        "a.graphml",
        f"<graphml>{DEFAULT}<graph>{FEW}</graph></graphml>".encode(),
    ),
    "GraphML of keys": (
        "a.graphml",
        ("<graphml>" + "".join(f'<key id="{n}"/>' for n in range(MANY)) + "</graphml>").encode(),
    ),
    "GEXF": ("a.gexf", f"<gexf><graph><nodes>{NODES}</nodes></graph></gexf>".encode()),
    "Pajek": ("a.net", b'*Vertices 1\n1 "a"\n*Arcslist\n' + b"1 1 1 1 1 1 1\n" * MANY),
}


def written(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize("kind", SWELLING)
def test_small_files_that_would_take_much_memory(tmp_path: Path, kind: str, tight: int) -> None:
    path = written(tmp_path, *SWELLING[kind])
    said = ReadingOptions(time="time", max_distance="1")
    with pytest.raises(InputError, match=f"would take more than {tight:,} bytes of memory"):
        read_records([path], options=said)


@pytest.mark.usefixtures("tight")
def test_many_files_share_one_ceiling(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, f"{n}.graphml", f"<graphml><graph>{FEW}</graph></graphml>".encode())
        for n in range(4)
    ]
    said = ReadingOptions(time="time")
    with pytest.raises(InputError, match="attribute"):
        read_records(paths[:1], options=said)
    with pytest.raises(InputError, match=r"^\d.graphml: what is read would take more than"):
        read_records(paths, options=said)


def test_rows_of_a_database_are_counted_as_they_come(tmp_path: Path, tight: int) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as base:
        base.execute("create view people as select hex(zeroblob(2000)) as id, 2001 as time "
                     "from (with recursive n(i) as (select 1 union all select i + 1 from n "
                     "where i < 5000) select i from n)")  # fmt: skip
        base.commit()
    for scheme in ("sqlite", "duckdb"):
        if scheme == "duckdb":
            with duckdb.connect(str(tmp_path / "a.duckdb")) as own:
                own.execute("create view people as select repeat('0', 4000) || i as id, 2001 as "
                            "time from range(5000) t(i)")  # fmt: skip
        at = f"{scheme}:///{tmp_path}/a.{'db' if scheme == 'sqlite' else 'duckdb'}#people"
        with pytest.raises(InputError, match=f"would take more than {tight:,} bytes of memory"):
            read_records([at])


def test_a_workbook_that_says_less_than_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/sharedStrings.xml", b"x" * 3 * MB)
    said = (3 * MB).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(said, (3).to_bytes(4, "little")))
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        read_records([path], options=ReadingOptions(most_bytes=MB))


def test_data_of_r_within_the_ceiling(tmp_path: Path, tight: int) -> None:
    rdata.write_rds(tmp_path / "a.rds", [None] * 9000)
    with pytest.raises(InputError, match=f"would take more than {tight:,} bytes of memory"):
        read_records([tmp_path / "a.rds"])


def test_a_sequence_of_r_that_is_stored_as_its_ends(tmp_path: Path) -> None:
    (tmp_path / "a.rds").write_bytes(gzip.compress(COMPACT_SEQUENCE))
    with pytest.raises(InputError, match="would take more than 2,147,483,648 bytes of memory"):
        read_records([tmp_path / "a.rds"])


def integer(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "big", signed=True) for number in numbers)


def symbol(name: bytes) -> bytes:
    return integer(1, 0x00040009, len(name)) + name


# What R writes of 1:1e9: a class, and how many, from where, by how much.
COMPACT_SEQUENCE = (
    b"X\n" + integer(3, 0x040300, 0x030500, 5) + b"UTF-8" + integer(238)
    + integer(2) + symbol(b"compact_intseq") + integer(2) + symbol(b"base")
    + integer(2, 13, 1, 13, 254)
    + integer(14, 3) + struct.pack(">ddd", 1e9, 1, 1) + integer(254)
)  # fmt: skip


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
