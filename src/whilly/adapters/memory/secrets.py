"""Secrets that are kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret
from whilly.ports.secrets import Secrets

if TYPE_CHECKING:
    from collections.abc import Mapping


@final
class MemorySecrets(Secrets):
    """Knows the secrets that it was given or told to store.

    Args:
        given: reference → secret.
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._kept = dict(given or {})

    @override
    def resolve(self, reference: str) -> Secret | None:
        if not reference.startswith(("env:", "keyring:", "file:")):
            message = "A secret must be given as a reference, and this is not one"
            raise ConfigError(message, remedy="write `keyring:service/user`, `env:NAME` or `file:/path`")
        value = self._kept.get(reference)
        return Secret(value) if value else None

    @override
    def store(self, service: str, user: str, value: str) -> None:
        self._kept[f"keyring:{service}/{user}"] = value
