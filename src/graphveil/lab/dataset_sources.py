"""Public graphs and the paper's sources: what each is, and how its files are read.

They are recognised by the name of their folder, and are not part of graphveil.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Records, Table
from graphveil.lab.dataset_files import SuppliedFile
from graphveil.records import ReadingOptions, from_rows, read_records
from graphveil.records.columns import Wanted, match_columns
from graphveil.records.table_file import read_table

if TYPE_CHECKING:
    Keep: TypeAlias = Callable[[pl.LazyFrame], pl.LazyFrame]


@dataclass(frozen=True)
class StandIn:
    """What a public graph is, and which dataset of the paper it takes the place of, if any."""

    title: str
    stands_for: str | None
    because: str
    directed_by_nature: bool

    @property
    def sentence(self) -> str | None:
        """What a reader of results has to know; None of a graph that replaces no other."""
        if self.stands_for is None:
            return None
        return f"It stands in for the paper's {_GRAPHS[self.stands_for]}: {self.because}."


_GRAPHS = {
    "hiv-trace": "HIV transmission graph",
    "patents": "patent citation graph",
    "acl-signed": "paper citation graph",
}
_PRIVATE = "those data are private"
_NO_SIGNS = "the signed list of citations could not be found"

STAND_INS = {
    "hiv-pirc-sandiego": StandIn(
        "HIV, San Diego, public sequences, linked by similar viruses",
        "hiv-trace",
        f"{_PRIVATE}; this is a smaller public one that lacks most isolated people",
        False,
    ),
    "hiv-crf02ag-lanl": StandIn(
        "HIV-1 CRF02_AG, world-wide public sequences, linked by similar viruses",
        "hiv-trace",
        f"{_PRIVATE}; this is the nearest public network in shape",
        False,
    ),
    "covid-korea-kcdc": StandIn(
        "COVID-19 in South Korea, traced infections, 2020",
        "hiv-trace",
        f"{_PRIVATE}; this is a traced epidemic of another disease",
        True,
    ),
    "acl-athar-positive": StandIn(
        "ACL papers, hand-labelled positive citations, cited to citing",
        "acl-signed",
        f"{_NO_SIGNS}; this is a smaller one of the same kind",
        True,
    ),
    "acl-aan": StandIn(
        "ACL papers, all citations, cited to citing",
        "acl-signed",
        f"{_NO_SIGNS}; these are citations of any sign",
        True,
    ),
    "collegemsg": StandIn(
        "private messages of students, Irvine, 2004, sender to receiver",
        None,
        "",
        True,
    ),
    "cit-hepth": StandIn(
        "physics papers (hep-th), cited to citing",
        "patents",
        "the patent files are not bundled; this is another large citation graph",
        True,
    ),
}


# A signed citation list: papers, and citations that praise, blame or are neutral.
#
# The paper derives such a list of ACL papers by citation sentiment (Kumar 2016). It is read from
# two tables of any kind that graphveil reads:
#
# - `papers`: paper, year; - `citations`: source (the citing paper), target (the cited one),
# sign.
#
# A sign is a number, positive if larger than 0, or one of the words below. Several rows for one
# pair are fine, such as one for each sentence: one positive row makes the citation positive. An
# edge runs from the cited paper to the one that endorses it.


FIRST_YEAR = 1990  # the first year that the paper publishes
POSITIVE = ("+", "p", "pos", "positive")
OTHERWISE = ("-", "−", "n", "neg", "negative", "o", "objective", "neutral")

_ORIGIN = (
    "The public original is described by Kumar (2016), Structure and Dynamics of Signed Citation "
    "Networks; similar files can be made from Athar's Citation Sentiment Corpus (2011) and the "
    "ACL Anthology Network."
)
PAPERS = SuppliedFile("papers", "the columns paper, year", _ORIGIN)
CITATIONS = SuppliedFile("citations", "the columns source (citing), target (cited), sign", _ORIGIN)


def read_signed_citations(folder: Path) -> Records:
    """All papers by year, and the positive citations among them, from cited to citing."""
    papers = read_table(PAPERS.within(folder), Wanted(("paper", "year")))
    citations = read_table(CITATIONS.within(folder), Wanted(("source", "target", "sign")))
    positive = _positive(citations)
    known = papers.frame["paper"].cast(pl.String).str.strip_chars()
    for column in ("source", "target"):
        _refuse_unknown(citations, column, positive, known)
    positive_rows = citations.frame.filter(positive)
    edges = positive_rows.select(source="target", target="source").unique(maintain_order=True)
    names = {"node": papers.names.get("paper", "paper"), "time": papers.names.get("year", "year")}
    nodes = papers.frame.select(node="paper", time="year")
    return Records(
        nodes=Table(nodes, papers.source, papers.first_row, names),
        edges=Table(edges, citations.source),
    )


def _positive(citations: Table) -> pl.Series:
    """Whether each row is a positive citation; refuses signs that say nothing."""
    signs = citations.frame["sign"].cast(pl.String).str.strip_chars().str.to_lowercase()
    numbers = signs.str.strip_prefix("+").cast(pl.Float64, strict=False).fill_nan(None)
    readable = numbers.is_not_null() | signs.is_in([*POSITIVE, *OTHERWISE])
    if not readable.fill_null(False).all():
        row = int((~readable.fill_null(False)).arg_true()[0])
        raise InputError(
            "the sign cannot be read",
            place=citations.place(row, "sign"),
            hint=f"Write a number, or one of {', '.join((*POSITIVE, *OTHERWISE))}.",
        )
    return (numbers > 0).fill_null(False) | signs.is_in(POSITIVE)


def _refuse_unknown(citations: Table, column: str, positive: pl.Series, known: pl.Series) -> None:
    """Refuse positive citations of, or by, papers that are not listed."""
    ends = citations.frame[column].cast(pl.String).str.strip_chars()
    unknown = positive & ~ends.is_in(known.implode()).fill_null(False)
    if unknown.any():
        raise InputError(
            "the citation names a paper that is not in the table of papers",
            place=citations.place(int(unknown.arg_true()[0]), column),
            hint="Add the paper with its year, or remove the citation.",
        )


# Patent citations as the NBER published them, one subcategory, turned into who inspired whom.
#
# Two text tables with commas: the citations of 1975 to 1999, and the patents granted from 1963
# to 1999. A patent that cites another has it as its source, so edges run from cited to citing.
# Both files are scanned in pieces; only the chosen subcategory is held in memory.


HARDWARE_AND_SOFTWARE = 22
FIRST_PATENT_YEAR = 1985  # the first year that the paper publishes

_PATENT_ORIGIN = (
    "The public original is the NBER U.S. Patent Citations Data File, described by Hall, Jaffe "
    "and Trajtenberg (2001), NBER Working Paper 8498."
)
PATENT_CITATIONS = SuppliedFile("cite75_99.txt", "the columns CITING, CITED", _PATENT_ORIGIN)
PATENTS = SuppliedFile(
    "apat63_99.txt", "the columns PATENT, GYEAR and SUBCAT among others", _PATENT_ORIGIN
)
_HEADER_ROWS = 1


def read_patents(folder: Path, subcategory: int = HARDWARE_AND_SOFTWARE) -> Records:
    """All patents of one subcategory by year of grant, and the citations among them."""
    citations, patents = PATENT_CITATIONS.within(folder), PATENTS.within(folder)
    granted = _numbers(
        patents,
        Wanted(("patent", "gyear", "subcat")),
        ("patent",),
        lambda rows: rows.filter(pl.col("subcat") == subcategory),
    )
    if not granted.height:
        raise InputError(
            f"there is no patent of subcategory {subcategory}",
            place=Place(patents.name, column="SUBCAT"),
        )
    inside = granted.lazy().select("patent")
    pairs = _numbers(
        citations,
        Wanted(("citing", "cited")),
        ("citing", "cited"),
        lambda rows: rows.join(inside, left_on="citing", right_on="patent", how="semi").join(
            inside, left_on="cited", right_on="patent", how="semi"
        ),
    )
    nodes = granted.select(node="patent", time="gyear")
    edges = pairs.select(source="cited", target="citing").sort("source", "target")
    return Records(nodes=Table(nodes, patents.name), edges=Table(edges, citations.name))


def _numbers(path: Path, wanted: Wanted, needed: tuple[str, ...], keep: Keep) -> pl.DataFrame:
    """The selected rows of a table of whole numbers; refuses rows that lack a needed one."""
    rows = _scan(path, wanted)
    flawed = pl.any_horizontal(pl.col(name).is_null() for name in needed)
    try:
        bad = rows.filter(flawed).head(1).collect(engine="streaming")
        selected = keep(rows.drop("row")).collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(path) from error
    if bad.height:
        column = next(name for name in needed if bad[name][0] is None)
        row = int(bad["row"][0]) + _HEADER_ROWS + 1
        raise InputError(
            "a whole number is missing where one is needed",
            place=Place(path.name, row, column.upper()),
            hint="Use the file as it was published.",
        )
    return selected


def _scan(path: Path, wanted: Wanted) -> pl.LazyFrame:
    """The wanted columns under our names, with the number of each row; nothing is read yet."""
    try:
        header = list(pl.scan_csv(path, infer_schema=False).collect_schema())
        names = match_columns(header, wanted, path.name)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(path) from error
    numbers = dict.fromkeys(names.values(), pl.Int64)
    rows = pl.scan_csv(path, schema_overrides=numbers, infer_schema=False, ignore_errors=True)
    chosen = rows.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
    return chosen.with_row_index("row")


def _unreadable(path: Path) -> InputError:
    return InputError(
        "the file cannot be read as text with commas and a header row",
        place=Place(path.name),
        hint="Unpack it, and use it as it was published.",
    )


# An HIV-TRACE network for experiments: one node a person, links from earlier to later.
#
# An id such as PERSON|SEQUENCE belongs to the person, who has the earliest of its dates. Links
# have no direction; as in the paper's directed version they are written from the earlier to the
# later node, undated ones first, ties by id.


RESULTS = SuppliedFile(
    "results.json",
    "an HIV-TRACE network: Nodes with an id and a date, and Edges by position",
    "The format is described with the HIV-TRACE software (Kosakovsky Pond, Weaver, Leigh Brown "
    "and Wertheim 2018); the paper's own HIV data are private.",
)
Dates: TypeAlias = dict[str, str | None]


def read_hivtrace(path: Path, date: str) -> Records:
    """People by date, and the links between them.

    Args:
        path: the JSON file.
        date: the node attribute, or patient attribute, that is the time stamp.
    """
    if not path.is_file():
        raise RESULTS.missing(str(path.parent), path.name)
    records = read_records([path], format="hivtrace", options=ReadingOptions(time=date)).records
    dates = _dates(records)
    if dates and not any(dates.values()):
        raise InputError(
            "nobody has a date in the field of this name",
            place=Place(path.name, column=date),
            hint="Name the attribute that is the time stamp.",
        )
    ends = (map(_person, records.edges.frame[end]) for end in ("source", "target"))
    links = {_earlier_first(a, b, dates) for a, b in zip(*ends, strict=True) if a != b}
    return from_rows([(person, dates[person]) for person in sorted(dates)], sorted(links))


def _person(name: str) -> str:
    return name.partition("|")[0].strip()


def _dates(records: Records) -> Dates:
    """The earliest date of each person, None without one; dates sort as text."""
    dates: Dates = {}
    for name, time in records.nodes.frame.iter_rows():
        person, here = _person(name), None if time is None else str(time)
        known = dates.get(person)
        dates[person] = min(filter(None, (here, known)), default=None)
    return dates


def _earlier_first(a: str, b: str, dates: Dates) -> tuple[str, str]:
    first, second = sorted((a, b), key=lambda person: (dates[person] or "", person))
    return first, second
