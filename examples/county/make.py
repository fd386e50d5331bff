"""Makes the HIV-TRACE results of this folder: a made-up county, run again every year.

python examples/county/make.py [FOLDER]

Everybody is made up, by a rule and a seed, so that the same files come out every time.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

PEOPLE = {2021: 700, 2022: 300, 2023: 300}  # the first year has those of the years before, too
MOST_LINKS = 9
LATE = ("C0346", "C0409", "C0513")  # their sequences were not there yet in the first run
VANISHED = ("C0120", "C0344")  # no longer there in later runs
REGIONS = {"North": 5, "South": 3, "East": 2}  # with their weights
AT_HOME = 0.7  # how often somebody lives where the first of those close to them does
REDATED = {"C0418": "2022-01-11"}  # diagnosed in 2021, said the first run


@dataclass(frozen=True)
class Person:
    """Somebody with a date of diagnosis, a region, and how many sequences there are of them."""

    name: str
    diagnosed: str
    sequences: int
    region: str = ""


@dataclass(frozen=True)
class County:
    """People, and the pairs of them whose viruses are alike."""

    people: tuple[Person, ...]
    links: tuple[tuple[str, str], ...]

    def known_in(self, year: int) -> County:
        """What a run at the end of a year knows."""
        if year == 2021:
            return self._of(each.name not in LATE and year_of(each) <= year for each in self.people)
        known = self._of(
            each.name not in VANISHED and year_of(each) <= year for each in self.people
        )
        people = tuple(
            replace(each, diagnosed=REDATED.get(each.name, each.diagnosed)) for each in known.people
        )
        return County(people, known.links)

    def _of(self, wanted: Iterable[bool]) -> County:
        people = tuple(each for each, kept in zip(self.people, wanted, strict=True) if kept)
        names = {each.name for each in people}
        return County(people, tuple(pair for pair in self.links if names.issuperset(pair)))


def year_of(person: Person) -> int:
    """The year of diagnosis."""
    return int(person.diagnosed[:4])


def made_up_county() -> County:
    """Whoever comes stays alone, or is close to somebody and to many who are close to them."""
    chance = random.Random("a made-up county")
    people: list[Person] = []
    close: dict[str, set[str]] = {}
    for year, count in PEOPLE.items():
        for _ in range(count):
            person = Person(f"C{len(people):04}", _date(chance, year), _sequences(chance))
            circle = _circle(chance, close)
            close[person.name] = circle
            for other in circle:
                close[other].add(person.name)
            people.append(person)
    links = [(a, b) for b, circle in close.items() for a in sorted(circle) if a < b]
    return County(_living(people, links), tuple(links))


def _living(people: list[Person], links: list[tuple[str, str]]) -> tuple[Person, ...]:
    """The same people with a region each; of some nobody knows it."""
    chance = random.Random("regions of a made-up county")
    first = {b: a for a, b in reversed(links)}
    homes: dict[str, str] = {}
    for each in people:
        drawn = chance.choices(list(REGIONS), list(REGIONS.values()))[0]
        near = homes.get(first.get(each.name, ""), "")
        homes[each.name] = near if near and chance.random() < AT_HOME else drawn
    said = {name: "" if chance.random() < 0.03 else region for name, region in homes.items()}
    return tuple(replace(each, region=said[each.name]) for each in people)


def _date(chance: random.Random, year: int) -> str:
    if year == 2021:
        year = 2015 + int(7 * chance.random())
    return f"{year}-{1 + int(12 * chance.random()):02}-{1 + int(28 * chance.random()):02}"


def _sequences(chance: random.Random) -> int:
    return 2 if chance.random() < 0.06 else 1


def _circle(chance: random.Random, close: dict[str, set[str]]) -> set[str]:
    """Nobody, or one person and most of those close to them, as long as they have room."""
    if not close or chance.random() < 0.3:
        return set()
    linked = [name for name, circle in close.items() if circle and len(circle) < MOST_LINKS]
    alone = [name for name, circle in close.items() if not circle]
    first = chance.choice(linked if linked and (not alone or chance.random() < 0.7) else alone)
    circle = {first}
    for other in sorted(close[first]):
        if len(close[other]) < MOST_LINKS and chance.random() < 0.85:
            circle.add(other)
    return circle


def results(county: County, year: int) -> dict[str, Any]:
    """The network as HIV-TRACE tells it: one entry a sequence, links by position."""
    clusters = _clusters(county)
    entries = [_entry(each, at, clusters) for each in county.people for at in _places(each)]
    linked = [entry for entry in entries if entry["cluster"] is not None]
    alone = [entry for entry in entries if entry["cluster"] is None]
    position = {entry["id"]: number for number, entry in enumerate(linked)}
    return {
        "Settings": {"threshold": 0.015, "created": f"{year + 1}-01-10", "compact_json": False},
        "Nodes": linked,
        "Edges": _edges(county, position, year),
        "Singletons": alone,
        "patient_attribute_schema": {
            "hiv_dx_date": {"name": "hiv_dx_date", "type": "Date", "label": "Diagnosis"},
            "sample_date": {"name": "sample_date", "type": "Date", "label": "First sample"},
            "region": {"name": "region", "type": "String", "label": "Region"},
        },
    }


def _places(person: Person) -> range:
    return range(1, person.sequences + 1)


def _entry(person: Person, sequence: int, clusters: dict[str, int]) -> dict[str, Any]:
    year, month, day = person.diagnosed.split("-")
    sampled = f"{year}-{month}-{min(28, int(day) + 7):02}"
    home = {"region": person.region} if person.region else {}
    dates = {"hiv_dx_date": person.diagnosed, "sample_date": sampled}
    return {
        "id": f"{person.name}|S{sequence}",
        "cluster": clusters.get(person.name),
        "patient_attributes": dates | home,
    }


def _edges(county: County, position: dict[str, int], year: int) -> list[dict[str, Any]]:
    """Each link once, now and then also by a second sequence; and some that were filtered out."""
    chance = random.Random(f"the run of {year}")
    pairs = [(f"{a}|S1", f"{b}|S1") for a, b in county.links]
    second = {entry for entry in position if entry.endswith("|S2")}
    pairs += [(a, other) for a, b in pairs if (other := b.replace("|S1", "|S2")) in second]
    pairs += [(entry.replace("|S2", "|S1"), entry) for entry in sorted(second)]
    return [
        {
            "source": position[a],
            "target": position[b],
            "length": round(0.015 * chance.random(), 4),
            "removed": False,
        }
        for a, b in pairs
    ] + [
        {"source": number, "target": number + 40, "length": 0.0149, "removed": True}
        for number in range(0, 200, 25)
    ]


def _clusters(county: County) -> dict[str, int]:
    """The number of each linked person's cluster."""
    cluster = {name: name for pair in county.links for name in pair}
    changed = True
    while changed:
        changed = False
        for a, b in county.links:
            least = min(cluster[a], cluster[b])
            changed |= cluster[a] != least or cluster[b] != least
            cluster[a] = cluster[b] = least
    numbers = {name: number for number, name in enumerate(sorted(set(cluster.values())), start=1)}
    return {name: numbers[first] for name, first in cluster.items()}


def compact(network: dict[str, Any]) -> dict[str, Any]:
    """The same in columns, as HIV-TRACE writes it when it is asked to save space."""
    settings = {**network["Settings"], "compact_json": True}
    columns = {
        section: {
            field: [each[field] for each in network[section]] for field in network[section][0]
        }
        for section in ("Nodes", "Edges", "Singletons")
    }
    removed = columns["Edges"]["removed"]
    columns["Edges"]["removed"] = {
        "keys": {"0": False, "1": True},
        "values": [int(each) for each in removed],
    }
    return {**network, "Settings": settings, **columns}


def second_laboratory(county: County) -> dict[str, Any]:
    """A laboratory that does not know whose its sequences are, and calls each of them UNKNOWN."""
    partners = [each for each in county.people if year_of(each) == 2023][:14]
    known = [_entry(each, 1, {}) for each in partners]
    unknown = Person("UNKNOWN", "2023-06-15", len(known))
    nameless = [_entry(unknown, number, {}) for number in _places(unknown)]
    edges = [
        {"source": number, "target": len(known) + number, "length": 0.009, "removed": False}
        for number in range(len(known))
    ]
    nodes = known + nameless
    return {"Settings": {"threshold": 0.015}, "Nodes": nodes, "Edges": edges, "Singletons": []}


def text(network: dict[str, Any]) -> str:
    """JSON with an entry, or a column, a line."""
    sections = (f'"{name}":{_lines(section)}' for name, section in network.items())
    return '{"trace_results":{\n' + ",\n".join(sections) + "\n}}\n"


def _lines(section: Any) -> str:
    if isinstance(section, list):
        return "[\n" + ",\n".join(_dense(entry) for entry in section) + "]"
    return "{\n" + ",\n".join(f'"{key}":{_dense(value)}' for key, value in section.items()) + "}"


def _dense(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def files() -> dict[str, str]:
    """Every file by its name."""
    county = made_up_county()
    runs = {year: results(county.known_in(year), year) for year in PEOPLE}
    return {
        "2021.json": text(runs[2021]),
        "2022.json": text(compact(runs[2022])),
        "2023.json": text(compact(runs[2023])),
        "second-laboratory.json": text(second_laboratory(county)),
    }


def main() -> None:
    """Write the files into a folder: that of this program, unless another is named."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, content in files().items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
