"""Drowning: a series whose noise would drown what is expected of it is not begun by mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.steward.beforehand.outlook import Outlook


def drowned(outlooks: Sequence[Outlook]) -> list[str]:
    """What is to be said of each series that would be drowned."""
    judged = ((each.series.name, each.judgement) for each in outlooks)
    return [f"'{name}': {found}" for name, found in judged if found and found.drowned]


def require_useful(outlooks: Sequence[Outlook]) -> None:
    """Refuse series that would be drowned, with what helps."""
    found = drowned(outlooks)
    if not found:
        return
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise ParameterError(
        "series",
        f"{found[0]}{more}",
        hint="What helps: a larger --epsilon, --hubs with a smaller --bound, longer steps, fewer "
        "series. To have it all the same: --yes (in Python: drowned_too=True).",
    )
