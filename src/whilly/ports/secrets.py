"""Secrets: values that must not be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.secret import Secret


class Secrets(Protocol):
    """Looks up references to secrets: `env:NAME`, `keyring:service/user`, `file:/path`."""

    def resolve(self, reference: str) -> Secret | None:
        """The secret that the reference means; None when it is not set there.

        Raises:
            ConfigError: the reference is malformed, or its store cannot be read.
        """
        ...

    def store(self, service: str, user: str, value: str) -> None:
        """Put a secret into the keyring.

        Raises:
            ConfigError: there is no usable keyring.
        """
        ...
