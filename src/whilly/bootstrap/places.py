"""The trackers and forges that the settings name, and the lines to them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, final

from whilly.adapters.github.login import read_gh_token
from whilly.adapters.places import Connected, Wiring, connect
from whilly.bootstrap.tokens import TokenChoice, choose_token
from whilly.config.secrets import ReferencedSecrets
from whilly.config.sources import Layer
from whilly.config.tables.forges import ForgeTable, TrackerTable
from whilly.domain.errors import ConfigError
from whilly.domain.forge.place import GITHUB_COM, Place, Provider
from whilly.transport.http.client import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from whilly.config.layers import Loaded
    from whilly.ports.clock import Clock

_PROVIDERS = {
    "github": Provider.GITHUB,
    "gitea": Provider.GITEA,
    "forgejo": Provider.GITEA,
    "gitlab": Provider.GITLAB,
    "jira": Provider.JIRA,
    "plane": Provider.PLANE,
}
_PUBLIC = {Provider.GITHUB: GITHUB_COM.url, Provider.GITLAB: "https://gitlab.com"}
"""Services that a table without an address means."""
_RESERVE = 0.1


@final
class Places:
    """All places that are known, by name; github.com always is."""

    def __init__(self, loaded: Loaded, clock: Clock) -> None:
        self._loaded, self._clock = loaded, clock
        self._tell: Callable[[str, datetime], None] = lambda _who, _until: None

    def listen(self, tell: Callable[[str, datetime], None]) -> None:
        """Have every line that is opened from now on say who asks for a longer wait, and until when."""
        self._tell = tell

    @cached_property
    def by_name(self) -> Mapping[str, Place]:
        """The places as people know them.

        Raises:
            ConfigError: one of them has no address.
        """
        settings = self._loaded.settings
        tables: dict[str, ForgeTable | TrackerTable] = {**settings.trackers, **settings.forges}
        if both := sorted(set(settings.trackers) & set(settings.forges)):
            message = f"{both[0]} is the name of a tracker and of a forge"
            raise ConfigError(message, remedy=f"rename [trackers.{both[0]}]")
        own = {name: self._make(name, table) for name, table in tables.items()}
        return own if GITHUB_COM.name in own else {**own, GITHUB_COM.name: GITHUB_COM}

    def known(self) -> tuple[Place, ...]:
        """For reading references: also by the addresses at which only Whilly reaches them."""
        inner = [
            Place(name, place.provider, url)
            for name, place in self.by_name.items()
            if (url := self._table(name).url) not in {"", place.url}
        ]
        return (*self.by_name.values(), *inner)

    def choose(self, word: str, home: str = "") -> str:
        """The name of the place that people mean by its name, or by its kind.

        Args:
            word: `work`, `gitea`.
            home: the name of the place that the repository came from, which counts first among several.

        Raises:
            ConfigError: there is none, or there are several.
        """
        if word in self.by_name:
            return word
        provider = _PROVIDERS.get(word.lower())
        fitting = [name for name, place in self.by_name.items() if place.provider is provider]
        if len(fitting) == 1 or home in fitting:
            return home if home in fitting else fitting[0]
        if fitting:
            message = f"{word} may be several places: {', '.join(fitting)}"
            raise ConfigError(message, remedy="name one of them")
        if provider is None:
            message = f"there is no forge or tracker {word!r}"
            raise ConfigError(message, remedy=f"configured are: {', '.join(self.by_name)}")
        message = f"no {word.lower()} is configured"
        table = "forges" if provider.has_repositories else "trackers"
        raise ConfigError(message, remedy=f'[{table}.{word.lower()}] with url = "https://…" and token = "keyring:…"')

    def choose_token(self, name: str) -> TokenChoice:
        """The token that counts for a place, and what is worth saying about it.

        Raises:
            ConfigError: a reference to it cannot be read.
        """
        environment, origin = self._loaded.environment, self._loaded.origin("github.token")
        own = (f"{self._key(name)}.token", self._table(name).token)
        flat = (f"github.token ({origin.place})", self._loaded.settings.github.token)
        is_public = self.by_name[name].find_path(GITHUB_COM.url) is not None
        # The variable wins over what files say, as it does for every setting.
        order = [flat, own] if origin.layer is Layer.ENVIRONMENT else [own, flat]
        references = [each for each in order if each[1] and (is_public or each is own)]
        secrets = ReferencedSecrets(environment)
        login_to = lambda host: read_gh_token(host, environment)  # noqa: E731  (one line says it)
        return choose_token(self.by_name[name], references, secrets, environment, login_to)

    def connect(self, name: str, patience: Patience | None = None) -> Connected:
        """The line to the place of this name, to be used in one event loop.

        Raises:
            ConfigError: there is no such place, or no token for it.
        """
        if name not in self.by_name:
            message = f"there is no forge or tracker {name!r}"
            raise ConfigError(message, remedy=f"configured are: {', '.join(self.by_name)}")
        choice = self.choose_token(name)
        if choice.token is None:
            own = self._table(name).token
            message = f"there is no token for {name}" + (f": {own} holds nothing" if own else "")
            other = f"set it, or write another reference to {self._key(name)}.token"
            raise ConfigError(message, remedy=other if own else self.token_remedy(name))
        if not re.fullmatch(r"[!-~]+", choice.token.reveal()):
            message = f"the token for {name} ({choice.origin}) has characters that no token has"
            raise ConfigError(message, remedy="look for blanks, line ends and letters that are not ASCII")
        table = self._table(name)
        wiring = Wiring(
            url=table.url,
            reserve=table.reserve_percent / 100 if isinstance(table, ForgeTable) else _RESERVE,
            patience=patience or Patience(),
            username=table.username if isinstance(table, TrackerTable) else "",
            workspace=table.workspace if isinstance(table, TrackerTable) else "",
            setting=self._key(name),
            warnings=choice.warnings,
            tell=self._tell,
        )
        return connect(self.by_name[name], choice.token, self._clock, wiring)

    def is_tracker_only(self, name: str) -> bool:
        """Whether the settings describe it as a tracker that is no forge."""
        return name in self._loaded.settings.trackers

    def token_remedy(self, name: str) -> str:
        """What to do when there is none."""
        store = f'python -m keyring set whilly {name}, and {self._key(name)}.token = "keyring:whilly/{name}"'
        is_github = self.by_name[name].provider is Provider.GITHUB
        return f"gh auth login, or: {store}" if is_github else store

    def _key(self, name: str) -> str:
        """The table that describes a place."""
        return f"{'trackers' if name in self._loaded.settings.trackers else 'forges'}.{name}"

    def _table(self, name: str) -> ForgeTable | TrackerTable:
        settings = self._loaded.settings
        return settings.trackers.get(name) or settings.forges.get(name) or ForgeTable()

    def _make(self, name: str, table: ForgeTable | TrackerTable) -> Place:
        provider = _PROVIDERS[table.speaks(name)]
        url = table.public_url or table.url or _PUBLIC.get(provider, "")
        if not url:
            message = f"{self._key(name)} has no address"
            raise ConfigError(message, remedy=f'write url = "https://…" under [{self._key(name)}]')
        if provider is Provider.PLANE and not (isinstance(table, TrackerTable) and table.workspace):
            message = f"{self._key(name)} has no workspace"
            raise ConfigError(message, remedy=f'write workspace = "…" under [{self._key(name)}], as in its addresses')
        return Place(name, provider, url)
