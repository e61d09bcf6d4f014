"""Which adapters speak to which place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from whilly.domain.errors import ConfigError
from whilly.domain.forge.place import Place, Provider
from whilly.ports.endpoint import Endpoint
from whilly.ports.forge import Forge
from whilly.ports.tracker import Tracker
from whilly.transport.http.client import HttpClient, Patience
from whilly.transport.http.refusal import Peer

if TYPE_CHECKING:
    from types import TracebackType

    from whilly.domain.secret import Secret
    from whilly.ports.clock import Clock

PACKAGES = {
    Provider.GITHUB: "github",
    Provider.GITEA: "gitea",
    Provider.GITLAB: "gitlab",
    Provider.JIRA: "jira",
    Provider.PLANE: "plane",
}
"""Provider → the package of its adapters, imported when it is chosen."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Connected:
    """A place, ready to be asked. It belongs to the event loop that asks first.

    Attributes:
        warnings: what is worth saying about its token.
    """

    place: Place
    tracker: Tracker
    endpoint: Endpoint
    http: HttpClient
    warnings: tuple[str, ...]
    pulls: Forge | None

    @property
    def forge(self) -> Forge:
        """Its pull requests.

        Raises:
            ConfigError: it is a tracker only.
        """
        if self.pulls is None:
            message = f"{self.place.name} is a tracker and has no pull requests"
            raise ConfigError(message, remedy="name a forge: [forges.NAME]")
        return self.pulls

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.__aexit__(kind, error, trace)


@dataclass(frozen=True, slots=True)
class Wiring:
    """How a place is reached.

    Attributes:
        url: where Whilly reaches it, if that is not where people see it.
        reserve: the share of its rate limit that is left to people.
        patience: how long to go on.
        username: what goes with the token, where that takes one.
        workspace: which one of the place, where it has several.
        setting: the table that describes it, for messages: `forges.work`.
        warnings: what is worth saying about its token.
        tell: hears who asks for a longer wait, and until when.
    """

    url: str = ""
    reserve: float = 0.1
    patience: Patience = field(default_factory=Patience)
    username: str = ""
    workspace: str = ""
    setting: str = ""
    warnings: tuple[str, ...] = ()
    tell: Callable[[str, datetime], None] = lambda _who, _until: None


def connect(place: Place, token: Secret, clock: Clock, wiring: Wiring = Wiring()) -> Connected:
    """The line to a place, with one token; nothing is sent yet."""
    package = f"whilly.adapters.{PACKAGES[place.provider]}"
    name = place.provider.capitalize()
    endpoint_module: Any = import_module(f"{package}.endpoint")
    url, secret = wiring.url or place.url, token.reveal()
    api: str = endpoint_module.api_url(url)
    user = [wiring.username] if wiring.username else []
    headers = endpoint_module.token_headers(secret, *user)
    http = HttpClient(
        api,
        headers,
        Peer(f"{place.name} ({api})", f"set {wiring.setting or f'forges.{place.name}'}.token"),
        clock=clock,
        # What is sent may be made from the token, as a name and a password are.
        secrets=[secret, *(value.rpartition(" ")[2] for value in headers.values() if secret)],
        patience=wiring.patience,
        reserve=wiring.reserve,
        # A server on this very machine is behind no proxy.
        uses_proxies=urlsplit(api).hostname not in _HERE,
        tell=wiring.tell,
    )
    endpoint = getattr(endpoint_module, f"{name}Endpoint")(
        http, place, url, *([wiring.workspace] if wiring.workspace else [])
    )
    tracker = getattr(import_module(f"{package}.tracker"), f"{name}Tracker")(endpoint)
    if not place.provider.has_repositories:
        return Connected(place, tracker, endpoint, http, wiring.warnings, None)
    forge = getattr(import_module(f"{package}.forge"), f"{name}Forge")(endpoint, token)
    return Connected(place, tracker, endpoint, http, wiring.warnings, forge)
