"""Real files of every programme read, where the reader of this test has some.

Set GRAPHVEIL_SAMPLES to a folder of samples, each a folder of its own with tables and `raw`
originals, to run this; the files themselves are no part of the repository.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.records import ReadingOptions, read_records

SAMPLES = Path(os.environ.get("GRAPHVEIL_SAMPLES", "no samples")).resolve()

# folder, files, date field; then the formats, rows of nodes, rows of edges, and the direction
KNOWN = [
    ("acl-aan", "nodes.csv edges.csv.gz", None, "pair pair", 19267, 94931, None),
    ("acl-aan", "nodes.csv raw/acl.txt.gz", None, "pair snap", 19267, 94973, None),
    ("acl-athar-positive", "nodes.csv edges.csv", None, "pair pair", 3069, 735, None),
    ("acl-athar-positive", "nodes.csv signed_edges.csv", None, "pair pair", 3069, 5042, None),
    ("cit-hepth", "nodes.csv edges.csv.gz", None, "pair pair", 27770, 352768, None),
    ("cit-hepth", "nodes.csv raw/cit-HepTh.txt.gz", None, "pair snap", 27770, 352807, True),
    ("collegemsg", "nodes.csv edges.csv", None, "pair pair", 1899, 20296, None),
    ("collegemsg", "raw/CollegeMsg.txt.gz", None, "snap-temporal", 1899, 59835, None),
    ("covid-korea-kcdc", "nodes.csv edges.csv", None, "pair pair", 5164, 1334, None),
    ("covid-korea-kcdc", "raw/PatientInfo.csv", "confirmed_date", "linelist", 5165, 1347, None),
    ("hiv-crf02ag-lanl", "nodes.csv edges.csv", None, "pair pair", 2527, 1021, None),
    ("hiv-crf02ag-lanl", "raw/network.json raw/lanl.tsv", "Year",
     "hivtrace microbetrace", 3412, 1021, False),
    ("hiv-pirc-sandiego", "nodes.csv edges.csv", None, "pair pair", 335, 444, None),
    ("hiv-pirc-sandiego", "nodes.csv edges_distance.csv", None, "pair pair", 335, 564, None),
    ("hiv-pirc-sandiego", "nodes.csv raw/pirc.csv", None, "pair microbetrace", 335, 564, False),
    ("hivtrace-json-compact", "nodes.csv edges.csv", None, "pair pair", 584, 2368, None),
    ("hivtrace-json-compact", "raw/network.json", "hiv_aids_dx_dt", "hivtrace", 584, 2368, False),
    ("hivtrace-json-example", "nodes.csv edges.csv", None, "pair pair", 233, 240, None),
    ("hivtrace-json-example", "raw/example.json", "hiv_aids_dx_dt", "hivtrace", 826, 241, False),
    ("microbetrace-demo", "nodes.csv edges.csv", None, "pair pair", 265, 297, None),
    ("microbetrace-demo", "raw/nodeList_covidDummy.csv raw/edgeList_covidDummy.csv",
     "symptomOnset", "microbetrace microbetrace", 265, 299, False),
]  # fmt: skip


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="GRAPHVEIL_SAMPLES names no folder")
@pytest.mark.parametrize(
    ("folder", "files", "time", "formats", "nodes", "edges", "directed"),
    KNOWN,
    ids=[f"{folder}: {files}" for folder, files, *_ in KNOWN],
)
def test_samples_read(
    folder: str,
    files: str,
    time: str | None,
    formats: str,
    nodes: int,
    edges: int,
    directed: bool | None,
) -> None:
    paths = [SAMPLES / folder / file for file in files.split()]
    found = read_records(paths, options=ReadingOptions(time=time))
    assert [file.format for file in found.report.files] == formats.split()
    assert len(found.records.nodes.frame) == nodes
    assert len(found.records.edges.frame) == edges
    assert found.directed is directed
    times = found.records.nodes.frame["time"]
    assert Calendar.spanning(times, "year").steps_of(times).trouble is None
