"""Public graphs, most of which take the place of data of the paper which cannot be had.

They are recognised by the name of their folder, and are not part of graphveil.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StandIn:
    """What a public graph is, and which dataset of the paper it takes the place of, if any."""

    title: str
    stands_for: str | None
    because: str
    directed_by_nature: bool

    @property
    def sentence(self) -> str | None:
        """What a reader of results has to know; None of a graph that stands for itself."""
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
