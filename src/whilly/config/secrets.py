"""References to secrets, and the places they refer to: variables, the keyring, files."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.config.values import is_reference
from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret
from whilly.ports.secrets import Secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from keyring.backend import KeyringBackend

SERVICE = "whilly"
GITHUB_USER = "github"
JIRA_USER = "jira"
DEFAULT_USER = "default"
"""The user of a reference that names a service only."""


def _machine_keyring() -> KeyringBackend:
    import keyring  # noqa: PLC0415  (looks for backends on import, which takes long)

    return keyring.get_keyring()


def name_keyring() -> str:
    """The machine's keyring in words; empty when it has none. It is not opened."""
    from keyring.errors import KeyringError  # noqa: PLC0415  (slow, as above)

    try:
        backend = _machine_keyring()
    except (KeyringError, OSError, RuntimeError):
        return ""
    return "" if type(backend).__module__ in _NO_KEYRING else str(backend.name)


_NO_KEYRING = {"keyring.backends.fail", "keyring.backends.null"}
"""What keyring puts in the place of one: the first refuses everything, the second forgets everything."""


@final
class ReferencedSecrets(Secrets):
    """Secrets by reference; a value read is never kept.

    Args:
        environment: what `env:NAME` looks in.
        keyring: gives the keyring when one is needed; by default the machine's.
    """

    def __init__(
        self, environment: Mapping[str, str], *, keyring: Callable[[], KeyringBackend] = _machine_keyring
    ) -> None:
        self._environment = environment
        self._keyring = keyring

    @override
    def resolve(self, reference: str) -> Secret | None:
        if not is_reference(reference):
            message = "A secret must be given as a reference, and this is not one"
            raise ConfigError(message, remedy="write `keyring:service/user`, `env:NAME` or `file:/path`")
        scheme, _, rest = reference.partition(":")
        match scheme:
            case "env":
                value = self._environment.get(rest)
            case "keyring":
                value = self._read_keyring(rest)
            case _:
                value = _read_file(rest)
        return Secret(value) if value else None

    @override
    def store(self, service: str, user: str, value: str) -> None:
        with _translated("cannot keep a secret"):
            self._keyring().set_password(service, user, value)

    def forget(self, service: str, user: str) -> None:
        """Take a secret out of the keyring.

        Raises:
            ConfigError: there is no usable keyring, or no such secret.
        """
        with _translated("cannot remove a secret"):
            self._keyring().delete_password(service, user)

    def _read_keyring(self, slot: str) -> str | None:
        service, _, user = slot.partition("/")
        with _translated(f"cannot read {slot}"):
            return self._keyring().get_password(service, user or DEFAULT_USER)


def reference_or_text(value: str, secrets: Secrets) -> str:
    """What a setting means that may be a reference or plain text, such as a database's address.

    Raises:
        ConfigError: it refers to something that is not set.
    """
    if not is_reference(value):
        return value
    secret = secrets.resolve(value)
    if secret is None:
        message = f"{value} is not set"
        raise ConfigError(message, remedy="set it, or write another reference")
    return secret.reveal()


def _read_file(name: str) -> str | None:
    path = Path(name).expanduser()
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        message = f"The secret's file {path} cannot be read: {reason}"
        raise ConfigError(message, remedy="check the file and its permissions") from error


@contextmanager
def _translated(what: str) -> Iterator[None]:
    from keyring.errors import KeyringError  # noqa: PLC0415  (slow, as above)

    try:
        yield
    except (KeyringError, OSError, RuntimeError) as error:
        message = f"The keyring {what}: {type(error).__name__}: {error}"
        remedy = "unlock or install a keyring (`python -m keyring diagnose`), or refer to a variable: `env:NAME`"
        raise ConfigError(message, remedy=remedy) from error
