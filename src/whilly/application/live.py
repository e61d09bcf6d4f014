"""What is happening right now, in this process's memory, for whoever watches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from whilly.domain.ids import ItemId
from whilly.ports.clock import Clock

if TYPE_CHECKING:
    from whilly.domain.session import Activity


@dataclass(frozen=True, slots=True)
class LiveAttempt:
    """An attempt under way, as people like to see it.

    Attributes:
        acted_at: when its agent last did something; None before that.
    """

    item: ItemId
    number: int
    stage: str
    agent: str
    started_at: datetime
    home: str = ""
    last_action: str = ""
    tokens: int = 0
    acted_at: datetime | None = None


@dataclass(slots=True)
class Live:
    """Attempts under way and reasons for waiting, by item. Written by the engine, read by the views."""

    clock: Clock
    attempts: dict[ItemId, LiveAttempt] = field(default_factory=dict)
    holds: dict[ItemId, str] = field(default_factory=dict)

    def started(self, attempt: LiveAttempt) -> None:
        """An attempt is under way."""
        self.holds.pop(attempt.item, None)
        self.attempts[attempt.item] = attempt

    def acted(self, item: ItemId, activity: Activity) -> None:
        """Its agent did something."""
        attempt = self.attempts.get(item)
        if attempt is not None:
            tokens = attempt.tokens + activity.tokens
            action = activity.text or attempt.last_action
            self.attempts[item] = replace(attempt, last_action=action, tokens=tokens, acted_at=self.clock.now())

    def held(self, item: ItemId, reason: str) -> None:
        """Its next attempt may not start yet."""
        self.holds[item] = reason

    def ended(self, item: ItemId) -> None:
        """Nothing is under way for it any more."""
        self.attempts.pop(item, None)
        self.holds.pop(item, None)
