"""Requests and epochs as plain data, with every fraction as text, to be stored and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from graphveil.mechanisms.factorisation import Bordered, Factorisation
from graphveil.mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Law
from graphveil.mechanisms.mechanism import Epoch, Request
from graphveil.mechanisms.toeplitz import ScaledToeplitz
from graphveil.mechanisms.tree import Dyadic
from graphveil.statistics.sensitivity import Sensitivity


def request_to_dict(request: Request) -> dict[str, Any]:
    """The public parameters, each under its own name."""
    sensitivity = vars(request.sensitivity) | {"exact_for": sorted(request.sensitivity.exact_for)}
    return vars(request) | {
        "sensitivity": sensitivity,
        "epsilon": str(request.epsilon),
        "delta": None if request.delta is None else str(request.delta),
    }


def request_from_dict(data: Mapping[str, Any]) -> Request:
    """The request that `request_to_dict` wrote."""
    sensitivity = dict(data["sensitivity"])
    sensitivity["exact_for"] = frozenset(sensitivity["exact_for"])
    return Request(
        **{
            **data,
            "sensitivity": Sensitivity(**sensitivity),
            "epsilon": Fraction(data["epsilon"]),
            "delta": None if data["delta"] is None else Fraction(data["delta"]),
        }
    )


def epochs_to_list(epochs: Iterable[Epoch]) -> list[dict[str, Any]]:
    """The epochs in order; equal ones that follow each other are written once."""
    return [
        {
            "times": len(list(equal)),
            "law": _law_to_dict(epoch.law),
            "factorisation": epoch.factorisation.to_dict(),
        }
        for epoch, equal in groupby(epochs)
    ]


def epochs_from_list(data: Sequence[Mapping[str, Any]]) -> tuple[Epoch, ...]:
    """The epochs that `epochs_to_list` wrote."""
    return tuple(
        epoch
        for entry in data
        for epoch in [Epoch(_factorisation(entry["factorisation"]), _law_from_dict(entry["law"]))]
        * entry["times"]
    )


def _factorisation(data: dict[str, Any]) -> Factorisation:
    readers: dict[str, Callable[[dict[str, Any]], Factorisation]] = {
        "bordered": Bordered.from_dict,
        "dyadic": Dyadic.from_dict,
        "scaled-toeplitz": ScaledToeplitz.from_dict,
    }
    return readers[data["kind"]](data)


def _law_to_dict(law: Law) -> dict[str, str]:
    if isinstance(law, DiscreteLaplace):
        return {"kind": "discrete-laplace", "scale": str(law.scale)}
    return {"kind": "discrete-gaussian", "spread": str(law.spread)}


def _law_from_dict(data: Mapping[str, str]) -> Law:
    if data["kind"] == "discrete-laplace":
        return DiscreteLaplace(Fraction(data["scale"]))
    return DiscreteGaussian(Fraction(data["spread"]))
