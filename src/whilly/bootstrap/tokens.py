"""Which token counts for a place: the configured ones in their order, then what the environment has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.forge.place import GITHUB_COM, Provider
from whilly.domain.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whilly.domain.forge.place import Place
    from whilly.ports.secrets import Secrets

AMBIENT = ("GH_TOKEN", "GITHUB_TOKEN")
AMBIENT_ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""The variables of GitHub's own program, in its order; these count for the host in `GH_HOST`."""


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """The token that counts.

    Attributes:
        token: None when there is none.
        origin: where it comes from, for people.
        warnings: other tokens that are set and do not count, or do count without being meant to.
    """

    token: Secret | None
    origin: str = ""
    warnings: tuple[str, ...] = ()


def choose_token(
    place: Place,
    references: Sequence[tuple[str, str]],
    secrets: Secrets,
    environment: Mapping[str, str],
    login: Callable[[str], str],
) -> TokenChoice:
    """The token for a place.

    Args:
        place: whose token is wanted.
        references: what the settings say, the first one first: where it is written, and the reference.
        secrets: what resolves them.
        environment: where ambient tokens are.
        login: gives the token of a login of GitHub's program for a host; empty when there is none.

    Raises:
        ConfigError: a reference cannot be read.
    """
    configured = [(origin, secrets.resolve(reference)) for origin, reference in references]
    present = [(origin, secret) for origin, secret in configured if secret is not None]
    ambient = [(name, Secret(environment[name])) for name in _variables(place, environment) if environment.get(name)]
    warnings = [f"{origin} refers to a token that is not set" for origin, secret in configured if secret is None]
    if found := present or ambient:
        origin, token = found[0]
        others = [name for name, other in [*present, *ambient] if other != token]
        warnings += [f"{name} is set, too, and does not count: {origin} does" for name in others]
        if configured and not present:
            warnings.append(f"{origin} is used in its place")
        return TokenChoice(token, origin, tuple(warnings))
    stored = login(_host(place)) if place.provider is Provider.GITHUB else ""
    return TokenChoice(Secret(stored) if stored else None, "gh auth token" if stored else "", tuple(warnings))


def _variables(place: Place, environment: Mapping[str, str]) -> tuple[str, ...]:
    if place.provider is not Provider.GITHUB:
        return ()
    if place.find_path(GITHUB_COM.url) is not None:
        return AMBIENT
    # A token goes to no host that it was not meant for.
    return AMBIENT_ENTERPRISE if environment.get("GH_HOST", "") == _host(place) else ()


def _host(place: Place) -> str:
    return place.url.partition("://")[2].partition("/")[0]
