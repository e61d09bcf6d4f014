"""What the host's part of a sandbox is told: one value, passed as JSON in its environment and never written to disk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import final

from whilly.domain.confinement import ModelAccess
from whilly.domain.price import Price
from whilly.domain.secret import Secret

VARIABLE = "WHILLY_CONFINEMENT"
HOME = "/home/agent"
MODEL_PORT = 8787
EGRESS_PORT = 3128


@dataclass(frozen=True, slots=True)
class Limits:
    """What one sandbox may use; 0 is no limit.

    Attributes:
        memory_mb: of each process, and of all of them together.
        processes: at the same time.
        file_mb: of each file that is written.
        disk_mb: that the writable directories may grow by.
    """

    memory_mb: int = 8192
    processes: int = 512
    file_mb: int = 2048
    disk_mb: int = 10240


@dataclass(frozen=True, slots=True)
class Gateway:
    """The gateway to a model's service: see `ModelAccess`.

    Attributes:
        budget_usd: decimal, as text; empty is no limit.
        prices: by model: input, output, cache reads, cache writes, as text; empty is unknown.
    """

    api: str
    upstream: str
    key: str
    token: str
    budget_usd: str = ""
    prices: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)

    def access(self) -> ModelAccess:
        """The same in the domain's terms."""
        budget = Decimal(self.budget_usd) if self.budget_usd else None
        prices = {
            model: Price(Decimal(input_), Decimal(output), _rate(read), _rate(write))
            for model, (input_, output, read, write) in self.prices.items()
        }
        return ModelAccess(self.api, self.upstream, Secret(self.key), Secret(self.token), budget, prices)


def describe_gateway(model: ModelAccess | None) -> Gateway | None:
    """A model's access as an order has it."""
    if model is None:
        return None
    budget = "" if model.budget_usd is None else f"{model.budget_usd:f}"
    prices = {name: _describe_price(price) for name, price in model.prices.items()}
    return Gateway(model.api, model.upstream, model.key.reveal(), model.token.reveal(), budget, prices)


def _rate(text: str) -> Decimal | None:
    return Decimal(text) if text else None


def _describe_price(price: Price) -> tuple[str, str, str, str]:
    read, write = ("" if rate is None else f"{rate:f}" for rate in (price.cache_read, price.cache_write))
    return f"{price.input:f}", f"{price.output:f}", read, write


@final
@dataclass(frozen=True, slots=True)
class Order:
    """One process to be held.

    Attributes:
        bwrap: absolute path of bubblewrap.
        home: where records go.
        user: user and group id to run as; None keeps the caller's, who is not root then.
        python: the interpreter that boots inside.
        mounts: kind (`ro`, `rw`, `link`), source (a link's target), place; later ones lie on top.
        env: the whole environment.
        files: to be there when it starts: place → text.
    """

    bwrap: str
    home: str
    cwd: str
    program: str
    python: str
    user: tuple[int, int] | None
    mounts: tuple[tuple[str, str, str], ...]
    env: dict[str, str]
    limits: Limits
    hosts: tuple[str, ...] = ()
    gateway: Gateway | None = None
    files: dict[str, str] = field(default_factory=dict)

    def dump(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports to be opened inside, in the order in which `boot` hands them over."""
        return ((MODEL_PORT,) if self.gateway else ()) + ((EGRESS_PORT,) if self.hosts else ())


def parse_order(text: str) -> Order:
    """The inverse of `Order.dump`."""
    fields = json.loads(text)
    user = fields.pop("user")
    gateway = fields.pop("gateway")
    return Order(
        **{
            **fields,
            "user": tuple(user) if user else None,
            "mounts": tuple(tuple(mount) for mount in fields["mounts"]),
            "limits": Limits(**fields["limits"]),
            "hosts": tuple(fields["hosts"]),
            "gateway": Gateway(**gateway) if gateway else None,
        }
    )
