"""Cycles among dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whilly.domain.ids import ItemId


def find_cycles(dependencies: Mapping[ItemId, Sequence[ItemId]]) -> Iterator[tuple[ItemId, ...]]:
    """Cycles, each from an item along what it depends on back to it; without them all, none is left.

    Args:
        dependencies: for every item what it depends on; keys that are not there have none.
    """
    finished: set[ItemId] = set()
    for root in dependencies:
        path: dict[ItemId, Iterator[ItemId]] = {}
        if root not in finished:
            path[root] = iter(dependencies[root])
        while path:
            last = next(reversed(path))
            following = next(path[last], None)
            if following is None:
                finished.add(path.popitem()[0])
            elif following in path:
                members = list(path)
                yield (*members[members.index(following) :], following)
            elif following not in finished:
                path[following] = iter(dependencies.get(following, ()))
