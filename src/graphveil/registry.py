"""A registry: every member of one kind, each of which enters itself from its own module.

Adding a statistic, a mechanism, a format or a factorisation is adding one file to its package.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, TypeVar

from graphveil.errors import ParameterError, nearest_name

Member = TypeVar("Member")


class Registry(Generic[Member]):
    """The members of one kind, by name.

    Attributes:
        kind: what a member is called, for messages.
        package: the dotted name of the package whose modules hold the members.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._members: dict[str, Member] = {}

    def enter(self, name: str, member: Member) -> None:
        """Enter a member; refuses a name that is taken."""
        if name in self._members:
            raise ValueError(f"two members of the kind {self.kind} are called {name!r}")
        self._members[name] = member

    def members(self) -> dict[str, Member]:
        """Every member by name, once each module of the package was imported."""
        for module in self._modules():
            import_module(f"{self.package}.{module}")
        return dict(self._members)

    def named(self, name: str, besides: Iterable[str] = ()) -> Member:
        """The member of this name, or a refusal that offers the nearest.

        Args:
            name: what was asked for.
            besides: what else may be asked for, where the name is read.
        """
        if name not in self._members:
            self._look_where_it_is_called_so(name)
        known = self._members if name in self._members else self.members()
        if name not in known:
            offer = nearest_name(name, [*known, *besides])
            raise ParameterError(self.kind, f"there is none called '{name}'", hint=offer)
        return known[name]

    def _look_where_it_is_called_so(self, name: str) -> None:
        """Import the module with the name of a member, or with its beginning, before all others."""
        words = name.split("-")
        likely = {"_".join(words[: many + 1]) for many in range(len(words))}
        for module in sorted(likely & set(self._modules()), reverse=True):
            import_module(f"{self.package}.{module}")

    def _modules(self) -> list[str]:
        return [module.name for module in iter_modules(import_module(self.package).__path__)]
