"""``python -m graphveil.lab``: attack every statistic and print the tally."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from graphveil.lab.attacks.attack import QUICK, THOROUGH
from graphveil.lab.attacks.labels import every_labelling
from graphveil.lab.attacks.sweep import attack_shapes, every_statistic, shape_tally, sweep, tally
from graphveil.statistics.statistic import Statistic, registered


def arguments(given: list[str]) -> argparse.Namespace:
    """What the caller asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m graphveil.lab",
        description="Attack what the statistics claim about their sensitivity.",
    )
    parser.add_argument("names", nargs="*", help="statistics to attack; all of them if none")
    parser.add_argument("--thorough", action="store_true", help="try far more pairs (minutes)")
    parser.add_argument("--every-bound", action="store_true", help="one row per bound")
    parser.add_argument("--labels", action="store_true", help="attack breakdowns, instead")
    parser.add_argument("--shapes", action="store_true", help="attack costs, and hubs, instead")
    asked = parser.parse_args(given)
    for name in asked.names:
        if name not in registered():
            parser.error(f"there is no statistic called '{name}'")
    return asked


def chosen(names: list[str]) -> list[Statistic]:
    """The examples of the statistics with these names, or of all."""
    return [member for member in every_statistic() if not names or member.name in names]


def main(given: list[str] | None = None) -> int:
    """Print a tally; 1 if a claim is broken or a claim to be exact not reached."""
    asked = arguments(sys.argv[1:] if given is None else given)
    return shapes(asked) if asked.shapes else distances(asked)


def console() -> Console:
    """Wide enough for a whole table where it goes into a file."""
    return Console(width=None if sys.stdout.isatty() else 200)


def shapes(asked: argparse.Namespace) -> int:
    """Print what measuring changes costs, and what hubs add; 1 if a claim is broken."""
    found = attack_shapes(chosen(asked.names), moves=10_000 if asked.thorough else 1_000)
    console().print(shape_tally(found))
    return int(any(each.broken for each in found))


def distances(asked: argparse.Namespace) -> int:
    """Print the tally of distances; 1 if a claim is broken or not reached."""
    members = chosen(asked.names)
    if asked.labels:
        members = [*every_labelling(members)]
    attacks = sweep(members, effort=THOROUGH if asked.thorough else QUICK)
    screen = console()
    screen.print(tally(attacks, every_bound=asked.every_bound))
    for attack in attacks:
        for finding in attack.findings:
            if finding.broken:
                screen.print(f"{attack.statistic}, {attack.bound}, {finding.measure}:")
                screen.print(f"  {finding.found} > {finding.claimed}: {finding.witness}")
    return 0 if all(attack.reached for attack in attacks) else 1


if __name__ == "__main__":
    sys.exit(main())
