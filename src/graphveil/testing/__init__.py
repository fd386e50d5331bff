"""Attacks on sensitivities: neighbours, worst cases and sweeps, usable by anyone.

    from graphveil.graph.promises.bound import DegreeBound
    from graphveil.testing import attack

    outcome = attack(my_statistic, DegreeBound(3))
    assert not outcome.broken, outcome.finding("l1").witness

See ``docs/attacks.md``; ``python -m graphveil.testing`` prints the tally of all statistics.
"""

from graphveil.testing.attacks.annealing import Climb, search
from graphveil.testing.attacks.attack import QUICK, THOROUGH, Attack, Effort, Finding, attack
from graphveil.testing.attacks.enumeration import Size, exhaustive
from graphveil.testing.attacks.sweep import BOUNDS, sweep
from graphveil.testing.pairs import Attackable, Distances, Pair, replay

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
