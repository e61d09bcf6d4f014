"""A keyring of keyring's own kind that keeps its secrets in memory."""

from __future__ import annotations

from typing import final

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError
from typing_extensions import override


@final
class MemoryKeyring(KeyringBackend):
    """Keeps secrets in `kept`, by service and user.

    Attributes:
        is_locked: every call fails, as when nobody has logged in.
        is_forgetful: takes everything and keeps nothing, as keyring's null backend does.
    """

    priority = 1
    is_locked = False
    is_forgetful = False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring leaves it unannotated
        self.kept: dict[tuple[str, str], str] = {}

    @override
    def get_password(self, service: str, username: str) -> str | None:
        self._require_unlocked()
        return self.kept.get((service, username))

    @override
    def set_password(self, service: str, username: str, password: str) -> None:
        self._require_unlocked()
        if not self.is_forgetful:
            self.kept[service, username] = password

    @override
    def delete_password(self, service: str, username: str) -> None:
        self._require_unlocked()
        if (service, username) not in self.kept:
            raise PasswordDeleteError(username)
        del self.kept[service, username]

    def _require_unlocked(self) -> None:
        if self.is_locked:
            message = "the keyring is locked"
            raise KeyringLocked(message)
