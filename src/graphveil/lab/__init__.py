"""Attacks on sensitivities: neighbours, worst cases and sweeps, usable by anyone.

    from graphveil.graph.promises import DegreeBound
    from graphveil.lab import attack

    outcome = attack(my_statistic, DegreeBound(3))
    assert not outcome.broken, outcome.finding("l1").witness

See ``docs/attacks.md``; ``python -m graphveil.lab`` prints the tally of all statistics.
"""

from graphveil.lab.attacks.annealing import Climb, search
from graphveil.lab.attacks.attack import QUICK, THOROUGH, Attack, Effort, Finding, attack
from graphveil.lab.attacks.enumeration import Size, exhaustive
from graphveil.lab.attacks.sweep import BOUNDS, sweep
from graphveil.lab.pairs import Attackable, Distances, Pair, replay

__all__ = [
    "BOUNDS",
    "QUICK",
    "THOROUGH",
    "Attack",
    "Attackable",
    "Climb",
    "Distances",
    "Effort",
    "Finding",
    "Pair",
    "Size",
    "attack",
    "exhaustive",
    "replay",
    "search",
    "sweep",
]
