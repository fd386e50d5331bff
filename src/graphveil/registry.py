"""A registry: every member of one kind, each of which enters itself from its own module.

Adding a statistic, a mechanism, a format or a factorisation is adding one file to its package.
Another distribution adds one by an entry point. Its name says where it comes from: that of the
distribution, a dot, and a name of its own, as in `acme-graphs.leaves`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphveil.errors import MissingPlugInError, ParameterError, nearest_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Member = TypeVar("Member")


@dataclass(frozen=True)
class PlugIn:
    """The distribution that defines a member from outside this package."""

    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


class Registry(Generic[Member]):
    """The members of one kind, by name.

    Attributes:
        kind: what a member is called, for messages.
        package: the dotted name of the package whose modules hold the members.
        group: of the entry points by which other distributions offer theirs; None if none may.
    """

    def __init__(self, kind: str, package: str, group: str | None = None) -> None:
        self.kind = kind
        self.package = package
        self.group = group
        self._members: dict[str, Member] = {}

    def enter(self, name: str, member: Member) -> None:
        """Enter a member; refuses a name that is taken."""
        if name in self._members:
            raise ValueError(f"two members of the kind {self.kind} are called {name!r}")
        self._members[name] = member

    def members(self) -> dict[str, Member]:
        """Every member by name, once each module and each plug-in was imported."""
        for module in self._modules():
            import_module(f"{self.package}.{module}")
        for name in self._entry_points():
            self._load(name)
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
        if name in known:
            return known[name]
        if "." in name and self.group is not None:
            raise MissingPlugInError(self.kind, name)
        offer = nearest_name(name, [*known, *besides])
        raise ParameterError(self.kind, f"there is none called '{name}'", hint=offer)

    def plug_in(self, name: str) -> PlugIn | None:
        """The distribution that defines a member; None if this package does.

        Refuses a member that no installed distribution announces: another process, today or in
        ten years, would not find it.
        """
        entry = self._entry_points().get(name) if "." in name else None
        if entry is not None and entry.dist is not None:
            return PlugIn(entry.dist.name, entry.dist.version)
        if _module_of(self.named(name)).startswith("graphveil."):
            return None
        raise ParameterError(
            self.kind,
            f"no installed package announces '{name}', so other commands could not read the study",
            hint=f"Put it into a package with an entry point in the group '{self.group}'.",
        )

    def _look_where_it_is_called_so(self, name: str) -> None:
        """Import the module with the name of a member, or with its beginning, before all others."""
        if "." in name and name in self._entry_points():
            self._load(name)
        words = name.split("-")
        likely = {"_".join(words[: many + 1]) for many in range(len(words))}
        for module in sorted(likely & set(self._modules()), reverse=True):
            import_module(f"{self.package}.{module}")

    def _modules(self) -> list[str]:
        return [module.name for module in iter_modules(import_module(self.package).__path__)]

    def _entry_points(self) -> dict[str, EntryPoint]:
        return {} if self.group is None else _offered(self.group)

    def _load(self, name: str) -> None:
        """Import a plug-in, whose module enters its members as ours do."""
        if name in self._members:
            return
        entry = self._entry_points()[name]
        try:
            entry.load()
        except Exception as error:
            raise ParameterError(
                self.kind,
                f"'{name}' of {entry.value} cannot be imported: {type(error).__name__}",
                hint="Mend or uninstall the package that offers it.",
            ) from error
        if name not in self._members:
            raise ParameterError(
                self.kind, f"{entry.value} is announced as '{name}', but registers no such member"
            )


@cache
def _offered(group: str) -> dict[str, EntryPoint]:
    """What other distributions offer, by name; a name that is not theirs is left out."""
    return {each.name: each for each in _announced().select(group=group) if _is_its_own(each)}


@cache
def _announced() -> Any:
    """Every entry point: a look into all installed distributions, so once in a process."""
    from importlib.metadata import entry_points

    return entry_points()  # one of two classes, by the version of Python; both can select


def _is_its_own(entry: EntryPoint) -> bool:
    """Whether the name of an entry point begins with that of its distribution."""
    own = entry.dist.name if entry.dist is not None else ""
    return bool(own) and _plain(entry.name.rpartition(".")[0]) == _plain(own)


def _plain(name: str) -> str:
    """The name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _module_of(member: object) -> str:
    return str(getattr(member, "__module__", "") or type(member).__module__)
