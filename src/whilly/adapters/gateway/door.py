"""How an agent CLI is led to the gateway: told by its description and by Whilly's own environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from whilly.adapters.gateway.dialect import DIALECTS
from whilly.domain.errors import ConfigError
from whilly.domain.price import Price
from whilly.domain.secret import Secret

if TYPE_CHECKING:
    from whilly.adapters.command.descriptor import AgentDescriptor

_OPEN = "agent.isolation = 'open'"


@dataclass(frozen=True, slots=True)
class Door:
    """One agent's way to one service.

    Attributes:
        api: the protocol that it speaks.
        url_env: the variable that tells it the service's address; empty when something else does.
        key_env: the variable that holds its key.
        upstream: the real service's address.
        key: the real key.
        args: more arguments.
        files: more files: path → text.
        prices: by model.
    """

    api: str
    url_env: str
    key_env: str
    upstream: str
    key: Secret
    args: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)

    def require_key(self) -> None:
        """See that there is a key.

        Raises:
            ConfigError: there is none.
        """
        if not self.key.reveal():
            message = f"there is no key that the gateway could use: {self.key_env} is not set"
            raise ConfigError(
                message, remedy=f"set {self.key_env} (a login of the CLI itself is not taken inside), or {_OPEN}"
            )


@dataclass(frozen=True, slots=True)
class Means:
    """What there is to reach models with.

    Attributes:
        environ: holds the real keys, and the addresses of services that are not the usual ones.
        prices: by model.
        model: what an agent gets when nobody names another; empty is the one that its description names.
    """

    environ: Mapping[str, str]
    prices: Mapping[str, Price]
    model: str = ""


@final
class Doors:
    """An agent's ways to its models.

    Args:
        about: its description.
        means: what there is to reach them with.
        gateway: the gateway's address as the agent sees it.
        home: its home.
    """

    def __init__(self, about: AgentDescriptor, means: Means, gateway: str, home: str) -> None:
        self._about = about
        self._means = means
        self._gateway = gateway
        self._home = home

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variable that the agent holds its key in, where it is the same for all models."""
        name = self._about.gateway.get("key_env", "")
        return (name,) if name else ()

    def find(self, model: str) -> Door | None:
        """The way to this model; None when the agent needs none.

        Args:
            model: in the agent's own words; empty is the usual one.

        Raises:
            ConfigError: the description knows no way to it.
        """
        about, model = self._about, model or self._means.model or self._about.model
        table, provider = about.gateway, ""
        if not table and about.gateways:
            provider = model.partition("/")[0] if "/" in model else ""
            table = about.gateways.get(provider, {})
        elif not table:
            return None
        return self._open({str(key): value for key, value in table.items()}, provider, model)

    def _open(self, table: Mapping[str, str], provider: str, model: str) -> Door:
        where = f"agents.{self._about.name}.gateway" + (f"s.{provider}" if self._about.gateways and provider else "")
        if not table:
            raise self._complain(provider, where)
        dialect = DIALECTS.get(table.get("api", ""))
        if dialect is None:
            message = f"{where}.api: {table.get('api', '')!r} is no protocol that the gateway speaks"
            raise ConfigError(message, remedy=f"use one of {', '.join(DIALECTS)}")
        url_env, key_env = table.get("url_env", ""), table.get("key_env", "")
        upstream = self._means.environ.get(url_env) or table.get("upstream", "")
        if not upstream.startswith(("https://", "http://")) or not key_env:
            message = f"{where} says neither where the service is nor which variable has its key"
            raise ConfigError(message, remedy=f"set {where}.upstream (https://…) and {where}.key_env")
        words = {
            "{gateway}": self._gateway,
            "{base}": self._gateway + dialect.base,
            "{key_env}": key_env,
            "{provider}": provider,
            "{model}": model.partition("/")[2] if provider else model,
        }
        # Such files are JSON, and a model's name may be anybody's.
        escaped = {name: json.dumps(value)[1:-1] for name, value in words.items()}
        return Door(
            api=table["api"],
            url_env=url_env,
            key_env=key_env,
            # People say such addresses with and without the version.
            upstream=upstream.rstrip("/").removesuffix(dialect.base),
            key=Secret(self._means.environ.get(key_env, "")),
            args=tuple(_fill(text, words) for text in self._about.gateway_args),
            files={self._place(path): _fill(text, escaped) for path, text in self._about.gateway_files.items()},
            prices=self._means.prices,
        )

    def _place(self, path: str) -> str:
        return path.replace("~", self._home, 1) if path.startswith("~/") else path

    def _complain(self, provider: str, where: str) -> ConfigError:
        known = ", ".join(self._about.gateways)
        if not provider:
            message = f"agent {self._about.name} needs a model named provider/model when it is contained"
            return ConfigError(message, remedy=f"set agent.model; known providers: {known}")
        message = f"agent {self._about.name} knows no way from a sandbox to the provider {provider!r}"
        keys = f'{where} = {{ api = "openai", upstream = "https://…", key_env = "…" }}'
        return ConfigError(message, remedy=f"set {keys}, or a model of {known}")


def _fill(text: str, words: Mapping[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(name, value)
    return text
