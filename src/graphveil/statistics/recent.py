"""Recent networks: what is counted among those alone who arrived in the last few steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, HubBound
from graphveil.statistics.relations import Combination, Known, Relation
from graphveil.statistics.sensitivity import PROOFS, Measure, Moves, Sensitivity, StaticChange
from graphveil.statistics.sensitivity import Recent as RecentShape
from graphveil.statistics.statistic import Statistic, registered, require_at_least, window_field
from graphveil.statistics.tallies import Counts, GroupTally, GrowthTally, PlainTally, RecentTally

PROOF = f"{PROOFS}#recent-networks"
# Attributes that the statistic of a recent network takes over from the statistic that it counts.
_TAKEN_OVER = ("name", "formulas", "domain", "vector", "cumulative", "needs_bound", "advice")


@dataclass(frozen=True)
class RecentStatistic(Statistic, ABC):
    """A number of the network of the last `window` steps: its people, and links among them.

    It is not a total: people leave the network again. So an added person changes the values of
    `window` steps in a row, each by at most what one release of one graph can change, and noise
    is added to the values.
    """

    monotone = False

    @property
    @abstractmethod
    def counted_for(self) -> int:
        """How many steps the network has."""

    def recent(self, window: int) -> Statistic:
        """Refused: one window is enough."""
        raise ParameterError("window", f"'{self.name}' has one already")

    @abstractmethod
    def static_change(self, bound: Bound) -> StaticChange:
        """What one person, or one edge, can change in one release."""

    def lasts(self, bound: Bound) -> bool:
        """Whether the most that can change in one release can change in all of `window`."""
        return True

    @abstractmethod
    def within(self) -> PlainTally | GrowthTally | GroupTally:
        """What is counted in each recent network."""

    @abstractmethod
    def values(self, tallied: Any, width: int | None = None) -> Counts:
        """The value at each step."""

    def tally(self) -> RecentTally:
        """The same in every recent network."""
        return RecentTally(self.within(), self.counted_for)

    def differences(self, tallied: Any, width: int | None = None) -> Counts:
        """From value to value: they add up to the newest."""
        values = self.values(tallied, width)
        return np.diff(values, axis=0, prepend=np.zeros_like(values[:1]))

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """A person is in `window` recent networks, and changes each as one release of one graph.

        Guarantees:
            Exact where that of one release is. Proof: docs/sensitivities.md#recent-networks.
        """
        static, window = self.static_change(bound), self.counted_for
        exact: set[Measure] = set(static.exact_for) if self.lasts(bound) else set()
        if "l1" in static.exact_for:
            exact.add("static_l1")
        return Sensitivity(
            l1=window * static.l1,
            static_l1=static.l1,
            l2_squared=window * static.l2_squared,
            edge_l1=window * static.edge_l1,
            exact_for=frozenset(exact),
            assumption=bound.assumption,
            proof=PROOF,
        )

    def shape(self, bound: Bound) -> RecentShape:
        """What passes by.

        Guarantees:
            Proof: docs/sensitivities.md#recent-networks.
        """
        static, hubs = self.static_change(bound.counted), 0
        if isinstance(bound, HubBound):
            hubs = sum(bound.hubs)
        return RecentShape(
            window=self.counted_for,
            height=static.l1 + hubs * static.edge_l1,
            span=static.span + hubs * static.edge_span,
        )

    def edge_moves(self, bound: Bound) -> Moves | None:
        """None: these are of differences."""
        return None

    def hub_moves(self, bound: HubBound) -> Moves | None:
        """None: these are of differences."""
        return None

    def hub_l1(self, bound: HubBound) -> int:
        """Also one lost link for each hub, whose two people are recent together as long.

        Guarantees:
            Proof: docs/sensitivities.md#recent-networks.
        """
        shape = self.shape(bound)
        return shape.window * shape.height


@dataclass(frozen=True)
class Recent(RecentStatistic):
    """Another statistic, among those alone who arrived in the last `window` steps.

    Attributes:
        statistic: what is counted.
        window: for how many steps a person is counted, that of their arrival included.
    """

    statistic: Statistic
    window: int = field(metadata=window_field())

    def __post_init__(self) -> None:
        hint = "1 looks at the newest step alone; leave it out to count everybody."
        require_at_least("window", self.window, 1, hint)
        summary = f"{self.statistic.summary}, {among(self.window)}"
        # Elsewhere these are the same for all members of a class; here they are those of another.
        for attribute in _TAKEN_OVER:
            object.__setattr__(self, attribute, getattr(self.statistic, attribute))
        object.__setattr__(self, "summary", summary)

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """Every example of every statistic without a window, in a short one."""
        members = [member for _, member in sorted(registered().items())]
        examples = (example for member in members for example in member.examples())
        plain = (example for example in examples if example.counted_for is None)
        return tuple(cls(example, 1 + place % 3) for place, example in enumerate(plain))

    @property
    def counted_for(self) -> int:
        """The window."""
        return self.window

    def static_change(self, bound: Bound) -> StaticChange:
        """That of the statistic."""
        return self.statistic.static_change(bound)

    def within(self) -> PlainTally | GroupTally:
        """What the statistic counts."""
        tally = self.statistic.tally()
        assert not isinstance(tally, RecentTally), "one window is enough"
        return tally

    def values(self, tallied: Any, width: int | None = None) -> Counts:
        """What the statistic makes of all that appeared within the window."""
        return self.statistic.values(tallied, width)

    def facts(self, width: int) -> tuple[Combination, ...]:
        """Those of the statistic; people leave the network again, so none only rises."""
        return tuple(
            {replace(fact, rises=False): times for fact, times in each.items()}
            for each in self.statistic.facts(width)
        )

    def relations(self, known: Known) -> Iterable[Relation]:
        """Those of the statistic, which hold of every network."""
        return self.statistic.relations(known)

    def width(self, bound: Bound) -> int:
        """That of the statistic."""
        return self.statistic.width(bound)

    def degrees(self, bound: Bound) -> tuple[int, ...]:
        """Those of the statistic."""
        return self.statistic.degrees(bound)

    @property
    def definition(self) -> Any:
        """That of the statistic, on the recent network."""
        return self.statistic.definition

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """Those of the statistic."""
        return self.statistic.definition_arguments(directed=directed)

    def require_domain(self, *, directed: bool) -> None:
        """As the statistic does."""
        self.statistic.require_domain(directed=directed)

    def written(self) -> dict[str, Any]:
        """Those of the statistic, and the window."""
        return self.statistic.written() | {"window": self.window}


def among(window: int, steps: str = "") -> str:
    """Who is counted, in words.

    Args:
        window: for how many steps.
        steps: what so many steps are called, such as "3 years".
    """
    if window == 1 and not steps:
        return "among people who arrived at the step itself"
    return f"among people who arrived in the last {steps or f'{window} steps'}"
