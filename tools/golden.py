"""Makes golden studies: small ones, packed as they were left, that every later version must open.

    python tools/golden.py          # those that are not in tests/golden yet, and no others

A golden study is never made again: it stands for what the version of its day stored, so a change
of what is stored needs a new one under a new name (CONTRIBUTING.md, "What is stored"). Each
archive has the folder of a study, what the machine that made it remembers, and for PostgreSQL a
dump. `tests/study/test_golden_studies.py` goes on with each of them.
"""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
sys.path += [str(ROOT / "tests" / "study")]

import tomli_w  # noqa: E402

from graphveil import Study  # noqa: E402
from graphveil.steward import custody, series  # noqa: E402
from graphveil.steward.requests import SeriesRequest  # noqa: E402
from graphveil.study import binding  # noqa: E402
from graphveil.study.machine import VARIABLE, Machine  # noqa: E402

FIRST, LAST = 2001, 2006  # the years of the studies; the first three are published
SERVER = "postgresql+psycopg:///nowhere"  # stands for a server that is gone
PRICE = "1/8"
LEFT_OUT = ("/lock", "/known.json", ".png")
# One series of each mechanism; what a mechanism needs beyond ε decides what is counted.
MECHANISMS: dict[str, dict[str, Any]] = {
    "bridged": {},
    "box-projection": {"statistic": "high-degree", "tau": 2, "projection": 3},
    "compose-d-bounded": {},
    "compose-projection": {"projection": 2},
    "gaussian": {"delta": "1e-6"},
    "gaussian-projection": {"projection": 2, "delta": "1e-6"},
    "moves": {"statistic": "components"},
    "optimised": {},
    "optimised-moves": {"statistic": "components"},
    "range-projection": {"projection": 2},
    "recent": {"window": 2},
    "recent-blocks": {"window": 3},
    "recent-gaussian": {"window": 3, "delta": "1e-6"},
    "sensdiff": {},
    "sensseq-d-bounded": {},
    "sensseq-projection": {"projection": 2},
    "tree": {},
}


def people(first: int, last: int) -> tuple[str, str]:
    """Four people a year, as a file of nodes and one of edges; nobody has more than three links.

    All of them are a chain, in which each year closes a triangle.
    """
    years = range(first, last + 1)
    names = [f"P{year}-{place}" for year in years for place in range(4)]
    edges = [*pairwise(names), *((f"P{year}-0", f"P{year}-2") for year in years)]
    regions = ("North", "south", "Mars", "")
    nodes = "".join(f"{name},{name[1:5]},{regions[int(name[-1])]}\n" for name in names)
    return f"node,time,region\n{nodes}", "source,target\n" + "".join(f"{a},{b}\n" for a, b in edges)


def add(study: Study, first: int, last: int, extra: str = "", **how: Any) -> None:
    """Add the people of some years, read from two files as a steward would."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / "nodes.csv", Path(folder) / "edges.csv"]
        for path, text in zip(paths, people(first, last), strict=True):
            path.write_text(text + (extra if path.stem == "nodes" else ""))
        study.add(*paths, **how)


def made(folder: Path, **promised: Any) -> Study:
    """A study of six years with a budget that is not spent, whose first three are published."""
    plain: dict[str, Any] = {
        "title": "A golden study",
        "population": "made-up people",
        "publisher": "nobody",
        "first": FIRST,
        "last": LAST,
        "bound": 4,
        "bound_reason": "nobody made up more",
        "epsilon": 8,
        "epsilon_reason": "an example",
        "series": ["edges@1/4", "nodes@1/4"],
    }
    study = Study.create(folder, **{**plain, **promised})
    add(study, FIRST, FIRST + 2)
    study.publish(through=str(FIRST + 2))
    return study


def mechanisms(folder: Path) -> None:
    """A series of every mechanism, recent networks among them."""
    chosen = {
        name: {"statistic": "edges", "mechanism": name, "epsilon": PRICE, **own}
        for name, own in MECHANISMS.items()
    }
    made(folder, series=chosen, delta="1e-5")


def endless(folder: Path) -> None:
    """No last step: numbered ones, and a mechanism that goes on for ever."""
    study = Study.create(
        folder,
        title="A golden study",
        population="made-up people",
        publisher="nobody",
        every=1,
        first=FIRST,
        bound=4,
        bound_reason="nobody made up more",
        epsilon=1,
        epsilon_reason="an example",
        series={"edges": {"mechanism": "epochs", "epsilon": PRICE}},
    )
    add(study, FIRST, FIRST + 2)
    for _ in range(3):
        study.publish()


def vectors(folder: Path) -> None:
    """Histogram, CCDF, and statistics with parameters."""
    lines = ["degree-histogram@1", "degree-ccdf@1", "high-degree:tau=2@1/4", "triangles@1/4"]
    made(folder, series=[*lines, "clusters:k=3@1/4", "stars:k=2@1/4"])


def hubs(folder: Path) -> None:
    """A promise with hubs that somebody breaks, and the study goes on."""
    made(folder, bound=2, hubs=1, series=["edges@1/4", "triangles@1/4", "high-degree:tau=2@1/4"])


def without_bound(folder: Path) -> None:
    """Nothing is promised about links."""
    made(folder, bound=None, bound_reason=None, series=["nodes@1/4", "edges:projection=2@1/4"])


def forests(folder: Path) -> None:
    """Components and clusters are counted by forests."""
    lines = ["components:projection=forest:2@1/4", "clusters:projection=forest:3@1/4"]
    made(folder, bound=None, bound_reason=None, series=lines)


def following(folder: Path) -> None:
    """Thresholds that follow, with and without a guess, past the step that was to be the last."""
    first = "edges:projection=follow:9@1/4"
    second = "edges:projection=follow:9:3@1/4=guessed"
    study = made(
        folder, bound=None, bound_reason=None, last=FIRST + 3, series=["nodes@1/4", first, second]
    )
    series.extend(folder, last=str(LAST), prices={"edges": PRICE})
    add(study, FIRST + 3, FIRST + 4)
    study.publish(through=str(FIRST + 4))


def directed(folder: Path) -> None:
    """Links have a direction, and two bounds."""
    made(folder, bound=(3, 3), directed=True, series=["edges@1/4", "high-out-degree:tau=2@1/4"])


def pool(folder: Path) -> None:
    """Gaussian series that share a pool, beside a pure one."""
    shared = {"edges": {"pool": "1/2"}, "degree-ccdf": {"pool": "1/4"}}
    made(folder, delta="1e-6", pool=2, series={"nodes": {"epsilon": PRICE}, **shared})


def extended(folder: Path) -> None:
    """It went past its last step, for nothing and at a price."""
    dear = {"statistic": "components", "mechanism": "moves", "epsilon": PRICE}
    study = made(folder, last=FIRST + 3, series={"edges": {"epsilon": PRICE}, "components": dear})
    series.extend(folder, last=str(LAST), prices={"components": "1/4"})
    add(study, FIRST + 3, FIRST + 4)
    study.publish(through=str(FIRST + 4))


def adopted(folder: Path) -> None:
    """A copy went on with fresh noise."""
    study = made(folder)
    custody.adoption(folder, "the old disk is lost")
    study.publish(through=str(FIRST + 3))


def handed_over(folder: Path) -> None:
    """The machine that is remembered was given the study, and has not opened it yet."""
    made(folder)
    taker = Machine(Path(os.environ[VARIABLE]).with_name("taker"))
    custody.hand_over(folder, taker.code())
    os.environ[VARIABLE] = str(taker.folder)


def waiting(folder: Path) -> None:
    """Batches wait, one lacks a bad row, one was withdrawn; a series was opened later."""
    study = made(folder)
    series.open_series(folder, SeriesRequest("triangles", epsilon="1/4"))
    add(study, FIRST + 3, FIRST + 3)
    add(study, FIRST + 4, FIRST + 4, "P9,soon,\n", yes=True)
    add(study, LAST, LAST)
    study.withdraw(4)


def ratios(folder: Path) -> None:
    """Ratios of the first format that has them, up to the step before and of single degrees."""
    degrees = {"with a link": "100*degree-ccdf[1]/degree-ccdf[0]"}
    growth = {"growth": "(edges - before(edges))/before(edges)"}
    lines = ["edges@1", "nodes@1", "degree-ccdf@1"]
    made(folder, series=lines, ratios={"links each": "2*edges/nodes", **degrees, **growth})


def ratios_later(folder: Path) -> None:
    """Ratios of cells, and one that was promised once the study was open."""
    lines = ["nodes@1", "edges@1", "nodes:by=region@1=people", "edges:by=region@1=by-region"]
    study = Study.create(
        folder,
        title="A golden study",
        population="made-up people",
        publisher="nobody",
        first=FIRST,
        last=LAST,
        bound=4,
        bound_reason="nobody made up more",
        epsilon=8,
        epsilon_reason="an example",
        groups={"region": ["North", "South"]},
        series=lines,
        ratios={"between": "by-region[between]/edges", "North": "people[North]/people"},
    )
    add(study, FIRST, FIRST + 2, groups={"region": "region"})
    study.publish(through=str(FIRST + 1))
    study.promise_ratio("links each", "2*edges/nodes")
    study.promise_ratio("mixed", "by-region[South and North]/by-region")
    study.publish(through=str(FIRST + 2))


def groups(folder: Path) -> None:
    """People have regions and years of birth, and series are divided by them."""
    lines = ["nodes:by=region@1/4", "edges:by=region@1/4", "high-degree:tau=2,by=born@1/4"]
    study = Study.create(
        folder,
        title="A golden study",
        population="made-up people",
        publisher="nobody",
        first=FIRST,
        last=LAST,
        bound=4,
        bound_reason="nobody made up more",
        epsilon=8,
        epsilon_reason="an example",
        groups={"region": ["North", "South"], "born": [0, 2002, 2004]},
        series=[*lines, "degree-histogram:by=region@1", "edges:by=region,cells=alike,window=2@1/4"],
    )
    add(study, FIRST, FIRST + 2, groups={"region": "region", "born": "time"})
    study.publish(through=str(FIRST + 2))


def postgresql(folder: Path) -> None:
    """Its ledger is on a server, of which a dump is left."""
    from study_databases import new_database, server_in
    from test_dumped_databases import dump, schema_of

    with TemporaryDirectory(prefix="graphveil-postgresql-") as data, server_in(data) as server:
        made(folder, database=(url := new_database(server)))
        dumped = dump(url).replace(data.encode(), b"/server")
        (folder.parent / "dump.sql").write_bytes(dumped.replace(schema_of(url).encode(), b"golden"))
    (folder / "private" / "store.toml").write_bytes(tomli_w.dumps({"url": SERVER}).encode())


MAKERS: dict[str, Callable[[Path], None]] = {
    f"2026-11-{maker.__name__.replace('_', '-')}": maker
    for maker in (
        *(mechanisms, endless, vectors, hubs, without_bound, directed, pool),
        *(extended, adopted, handed_over, waiting, postgresql, forests, following, groups, ratios),
        ratios_later,
    )
}


@contextmanager
def machine_at(folder: Path) -> Iterator[None]:
    """Let what is remembered of studies lie in a folder."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def pack(folder: Path, archive: Path) -> None:
    """All files but locks, paths of this machine and large pictures; nobody's name, no time."""

    def nameless(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return None if entry.name.endswith(LEFT_OUT) else entry

    with tarfile.open(archive, "x:xz", preset=9) as packed:
        packed.add(folder, ".", filter=nameless)


def make(name: str) -> None:
    """Make a golden study and pack it."""
    binding._birth = lambda descriptor: None  # an unpacked file has another one
    with TemporaryDirectory() as place, machine_at(Path(place) / "state"):
        root = Path(place)
        (root / "packed").mkdir()
        MAKERS[name](root / "packed" / "study")
        Path(os.environ[VARIABLE]).rename(root / "packed" / "state")
        archive = GOLDEN / f"{name}.tar.xz"
        pack(root / "packed", archive)
    with (GOLDEN / "SHA256SUMS").open("a", encoding="utf-8") as sums:
        sums.write(f"{sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
    print(f"{name}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    for wanted in MAKERS:
        if not (GOLDEN / f"{wanted}.tar.xz").exists():
            make(wanted)
