"""What a process may reach that is not trusted: values that any sandbox understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from whilly.domain.price import Price
from whilly.domain.secret import Secret


class Tier(StrEnum):
    """How far an agent is held, as an attack on this machine has shown."""

    OPEN = "open"
    """It runs as the user who runs Whilly, and may do whatever that user may."""
    CONTAINED = "contained"
    """It sees its own checkout and the system's programs, no secret, no other process and no network but ours."""


def hold(*tiers: Tier) -> Tier:
    """The strictest of these."""
    return Tier.CONTAINED if Tier.CONTAINED in tiers else Tier.OPEN


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A model's service, reached through a gateway that alone knows the key.

    Attributes:
        api: which protocol it speaks: `anthropic` or `openai`.
        upstream: the service's address, `https://…`.
        key: the real key.
        token: what the process holds instead; worthless anywhere else.
        budget_usd: what the process may spend; None is no limit.
        prices: by model, for what is spent.
    """

    api: str
    upstream: str
    key: Secret
    token: Secret
    budget_usd: Decimal | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Confinement:
    """What one process may reach.

    Attributes:
        home: private directory of the attempt, which the process does not see; what is measured is written there.
        writable: absolute paths that it may change, seen at the same place.
        readable: absolute paths that it may read, besides the system's programs and its own.
        hosts: `name` or `name:port` of what it may reach by a proxy; nothing else has a way out.
    """

    home: str
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    model: ModelAccess | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """What an attack on this machine's sandbox has shown.

    Attributes:
        tier: the tier that holds here.
        denied: the attacks that were stopped, by name.
        escapes: those that succeeded.
        limits: for people, what bounds memory and processes here.
        problem: why the sandbox could not be tried at all; empty when it was.
    """

    tier: Tier
    denied: tuple[str, ...] = ()
    escapes: tuple[str, ...] = ()
    limits: str = ""
    problem: str = ""
    remedy: str = ""
