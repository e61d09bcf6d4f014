"""Which paths the running items hold, and what stands in the way of a new claim."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from whilly.domain.claims import ancestors, is_glob, overlaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.domain.ids import ItemId


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A condition that keeps a claim from being granted; many claims can wait for the same one.

    Attributes:
        path: the held claim, or the directory beneath which something is held.
        is_beneath: False while `path` itself is held, True while anything beneath it is.
    """

    path: str
    is_beneath: bool = False


@final
class Holdings:
    """A table of held claims that answers in steps of a path's depth, however many are held.

    Plain paths are looked up: one meets another when it is an ancestor of it or the same. Globs are compared one by one
    with what is held, which is never more than the slots allow.
    """

    def __init__(self) -> None:
        self._holders: defaultdict[str, list[ItemId]] = defaultdict(list)
        self._beneath: Counter[str] = Counter()
        self._globs: Counter[str] = Counter()

    def hold(self, item: ItemId, claims: tuple[str, ...]) -> None:
        """Grant the claims to the item."""
        for claim in claims:
            self._holders[claim].append(item)
            if is_glob(claim):
                self._globs[claim] += 1
            else:
                self._beneath.update(ancestors(claim))

    def release(self, item: ItemId, claims: tuple[str, ...]) -> Iterator[Obstacle]:
        """Take the claims back from the item.

        Yields:
            the obstacles that are gone by this.
        """
        for claim in claims:
            self._holders[claim].remove(item)
            if not self._holders[claim]:
                del self._holders[claim]
                yield Obstacle(claim)
            if is_glob(claim):
                self._globs -= Counter([claim])
                continue
            for directory in ancestors(claim):
                self._beneath[directory] -= 1
                if not self._beneath[directory]:
                    del self._beneath[directory]
                    yield Obstacle(directory, is_beneath=True)

    def stands(self, obstacle: Obstacle) -> bool:
        """Whether the obstacle is still there."""
        return obstacle.path in (self._beneath if obstacle.is_beneath else self._holders)

    def obstacle(self, claims: tuple[str, ...]) -> Obstacle | None:
        """The first obstacle to these claims; None when they can all be granted."""
        return next((found for claim in claims if (found := self._obstacle_to(claim))), None)

    def holder(self, obstacle: Obstacle) -> tuple[ItemId, str]:
        """An item that makes the obstacle, and the path it holds.

        Raises:
            KeyError: the obstacle is gone.
        """
        if not obstacle.is_beneath and obstacle.path in self._holders:
            return self._holders[obstacle.path][0], obstacle.path
        for claim, holders in self._holders.items():
            if obstacle.is_beneath and obstacle.path in ancestors(claim) and not is_glob(claim):
                return holders[0], claim
        raise KeyError(obstacle)

    def _obstacle_to(self, claim: str) -> Obstacle | None:
        if is_glob(claim):
            return next((Obstacle(held) for held in self._holders if overlaps(claim, held)), None)
        for path in (claim, *ancestors(claim)):
            if path in self._holders:
                return Obstacle(path)
        if claim in self._beneath:
            return Obstacle(claim, is_beneath=True)
        return next((Obstacle(held) for held in self._globs if overlaps(claim, held)), None)
