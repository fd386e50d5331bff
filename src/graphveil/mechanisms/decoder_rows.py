"""Rows of a decoder, and whether they are whole, without forming all of it where possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.mechanisms.factorisation import Bordered, Factorisation
from graphveil.mechanisms.tree import Dyadic


def combined_row(
    factorisation: Factorisation, coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ coefficient·row of B: the weights of the noises in a combination of an epoch's steps."""
    if not isinstance(factorisation, Bordered):
        return np.asarray(coefficients @ factorisation.decoder())
    shape = len(factorisation.rows), factorisation.steps
    rows = np.array(factorisation.rows, dtype=np.float64).reshape(shape)
    weights = np.array(factorisation.weights, dtype=np.float64).reshape(shape[::-1])
    borders = coefficients @ (weights / factorisation.grid)
    leaves = np.cumsum(coefficients[::-1])[::-1] - borders @ rows
    return np.concatenate([leaves / np.array(factorisation.diagonal), borders])


def single_row(factorisation: Factorisation, place: int) -> NDArray[np.float64]:
    """One row of B; −1 is the last, which is what an epoch leaves to those that follow."""
    coefficients = np.zeros(factorisation.steps)
    coefficients[place] = 1.0
    return combined_row(factorisation, coefficients)


def integral_steps(factorisation: Factorisation) -> NDArray[np.bool_]:
    """At which steps the decoded noise is always a whole number, so that nothing is rounded."""
    steps = factorisation.steps
    if isinstance(factorisation, Dyadic):
        return np.asarray(np.arange(steps) == 0)  # every later block is weighed against its halves
    if not isinstance(factorisation, Bordered):
        decoder = factorisation.decoder()
        return np.asarray((decoder == np.rint(decoder)).all(axis=1))
    if any(entry != 1 for entry in factorisation.diagonal):
        return np.zeros(steps, dtype=bool)
    weights = np.array(factorisation.weights, dtype=np.int64)
    whole = weights.reshape(steps, len(factorisation.rows)) % factorisation.grid == 0
    return np.asarray(whole.all(axis=1))
