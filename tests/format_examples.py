"""The example files of every format, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commands import ROOT
from graphveil.records import ReadingOptions

FOLDER = ROOT / "examples" / "formats"
Row = tuple[object, ...]


@dataclass(frozen=True)
class Example:
    """One set of files with the records that they must give."""

    format: str
    files: tuple[str, ...]
    options: ReadingOptions
    nodes: list[Row]
    edges: list[Row]
    directed: bool | None

    @property
    def name(self) -> str:
        """A name for tests."""
        return f"{self.format}-{self.files[0]}"

    @property
    def paths(self) -> list[Path]:
        """Where the files are."""
        return [FOLDER / self.format / file for file in self.files]


PAIR = Example(
    "pair",
    ("nodes.csv", "edges.csv"),
    ReadingOptions(),
    [
        ("ana", "2019-03-02"),
        ("ben", "2019-06-11"),
        ("cem", "2020-01-20"),
        ("dua", "2020-09-05"),
        ("eve", "2021-04-30"),
    ],
    [
        ("ana", "ben", None),
        ("ana", "cem", None),
        ("cem", "dua", "2021-02-01"),
        ("ben", "eve", None),
    ],
    None,
)
HIVTRACE = Example(
    "hivtrace",
    ("results.json",),
    ReadingOptions(time="dx_date"),
    [
        ("K01|seq1", "2019-03-02T08:00:00.000Z"),
        ("K01|seq2", "2019-03-02T08:00:00.000Z"),
        ("K02|seq1", "2020-01-20T08:00:00.000Z"),
        ("K03|seq1", None),
        ("K04|seq1", "2021-04-30T08:00:00.000Z"),
    ],
    [("K01|seq1", "K02|seq1"), ("K01|seq1", "K01|seq2"), ("K02|seq1", "K03|seq1")],
    False,
)
COMPACT = Example(
    "hivtrace",
    ("compact.json",),
    ReadingOptions(time="patient_attributes.dx_date"),
    [
        ("L01", "2019-05-06T07:00:00.000Z"),
        ("L02", "2020-10-12T07:00:00.000Z"),
        ("L03", "2021-01-08T07:00:00.000Z"),
    ],
    [("L01", "L02"), ("L02", "L03")],
    False,
)
MICROBETRACE = Example(
    "microbetrace",
    ("nodes.csv", "links.csv"),
    ReadingOptions(time="collection_date", day_first=False, max_distance="0.015"),
    [("M1", "2021-07-08"), ("M2", "2021-07-19"), ("M3", "2021-08-02"), ("M4", None)],
    [("M1", "M2"), (" M2", "M3"), ("M3", "M4")],
    False,
)
SNAP = Example(
    "snap",
    ("edges.txt", "dates.txt"),
    ReadingOptions(),
    [("11", "2019-03-02"), ("12", "2019-06-11"), ("13", "2020-01-20"), ("14", "2020-09-05")],
    [("12", "11"), ("13", "11"), ("14", "12"), ("14", "13")],
    True,
)
TEMPORAL = Example(
    "snap-temporal",
    ("messages.txt",),
    ReadingOptions(),
    [
        ("21", "2019-03-02 08:00:00"),
        ("22", "2019-03-02 08:00:00"),
        ("23", "2019-06-11 08:00:00"),
        ("24", "2020-09-05 00:00:00"),
    ],
    [
        ("21", "22", "2019-03-02 08:00:00"),
        ("21", "23", "2019-06-11 08:00:00"),
        ("22", "23", "2020-01-20 08:00:00"),
        ("24", "21", "2020-09-05 00:00:00"),
        ("21", "22", "2020-09-06 00:00:00"),
    ],
    None,
)
GRAPHML = Example(
    "graphml",
    ("contacts.graphml",),
    ReadingOptions(time="diagnosed", edge_time="met"),
    [("fay", "2019-03-02"), ("gus", "2019-06-11"), ("hal", "2020-01-20"), ("ida", None)],
    [("fay", "gus", None), ("gus", "hal", "2021-02-01"), ("hal", "ida", None)],
    False,
)
LINELIST = Example(
    "linelist",
    ("cases.csv",),
    ReadingOptions(time="confirmed"),
    [
        ("N1", "2020-03-02"),
        ("N2", "2020-03-05"),
        ("N3", "2020-03-09"),
        ("N4", "2020-04-01"),
        ("N5", None),
    ],
    [("N1", "N2"), ("N1", "N3"), ("N2", "N3"), ("N2", "N4"), ("N3", "N4")],
    None,
)
CONTACTS = Example(
    "contacts",
    ("linelist.csv", "contacts.csv"),
    ReadingOptions(time="onset,report", where=("type=person",)),
    [
        ("W01", "2014-03-02"),
        ("W02", "2014-03-11"),
        ("W03", "2014-03-14"),
        ("W04", "2014-04-01"),
    ],
    [("W01", "W02"), ("W02", "W03"), ("W03", "W04")],
    None,
)
GEXF = Example(
    "gexf",
    ("contacts.gexf",),
    ReadingOptions(time="diagnosed", edge_time="start", where=("kind=person",)),
    [("q1", "2019-03-02"), ("q2", "2019-06-14"), ("q3", "20200120")],
    [("q1", "q2", "2021-02-01"), ("q2", "q3", None)],
    False,
)
PAJEK = Example(
    "pajek",
    ("contacts.net",),
    ReadingOptions(),
    [("r1", "20190302"), ("r 2", "20190611"), ("r3", "20200120"), ("r4", "20210430")],
    [("r1", "r 2", "20200301"), ("r 2", "r3", None), ("r3", "r4", None)],
    False,
)
SESSION = Example(
    "microbetrace-session",
    ("session.microbetrace",),
    ReadingOptions(time="Collected", max_distance="0.015"),
    [("S1", "2021-07-08"), ("S2", "2021-07-19"), ("S3", "2021-08-02")],
    [("S1", "S2"), ("S1", "S3")],
    False,
)
GODATA = Example(
    "godata",
    ("cases.csv", "contacts.csv", "relationships.csv"),
    ReadingOptions(time="Date of onset,Date of reporting"),
    [
        ("0a1f-01", "2021-02-27"),
        ("0a1f-02", "2021-03-06"),
        ("0a1f-03", "2021-03-20"),
        ("0a1f-05", "2021-03-02"),
        ("0a1f-06", "2021-03-10"),
    ],
    [("0a1f-01", "0a1f-05"), ("0a1f-01", "0a1f-02"), ("0a1f-02", "0a1f-06")],
    None,
)
MATRIX = Example(
    "matrix",
    ("distances.csv",),
    ReadingOptions(time_from_id="|2", max_distance="0.015"),
    [
        ("V1|2019-03-02", "2019-03-02"),
        ("V2|2020-01-20", "2020-01-20"),
        ("V3|2020-09-05", "2020-09-05"),
        ("V4", None),
    ],
    [("V1|2019-03-02", "V2|2020-01-20"), ("V2|2020-01-20", "V3|2020-09-05")],
    False,
)
EXAMPLES = (
    *(PAIR, HIVTRACE, COMPACT, MICROBETRACE, SNAP, TEMPORAL, GRAPHML, LINELIST, CONTACTS),
    *(GEXF, PAJEK, SESSION, GODATA, MATRIX),
)
