"""Rules for single values, used by the settings' types. They say what is wrong, never what the value is."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from whilly.domain.claims import Refused, normalize

_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|keyring:[^/\s]+(/[^\s]+)?|file:.+")
# The rules of git-check-ref-format that people run into.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_BAD_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|\.lock(/|$)|\.$")


def checked_reference(value: str) -> str:
    """The reference to a secret, unchanged.

    Raises:
        ValueError: it is not a reference; a secret itself does not belong into a settings file.
    """
    if value and not _REFERENCE.fullmatch(value):
        message = "must be a reference, not the secret itself: `keyring:service/user`, `env:NAME` or `file:/path`"
        raise ValueError(message)
    return value


def is_reference(value: str) -> bool:
    """Whether the value refers to a secret."""
    return _REFERENCE.fullmatch(value) is not None


def checked_branch(value: str) -> str:
    """The name of a branch, or its beginning, unchanged.

    Raises:
        ValueError: git would refuse it.
    """
    if _BAD_BRANCH.search(value):
        message = "is not a name that git accepts for a branch"
        raise ValueError(message)
    return value


def checked_path(value: str) -> str:
    """A path or glob inside the repository, unchanged.

    Raises:
        ValueError: it is empty, absolute, leads out of the repository or cannot be understood.
    """
    normal = normalize(value)
    if isinstance(normal, Refused):
        message = f"must be a path inside the repository, relative to its root; this one {normal.reason}"
        raise ValueError(message)  # noqa: TRY004  (pydantic's protocol: a refusal, whatever its kind)
    return value


def checked_host(value: str) -> str:
    """The exact name of a host, with a port if it is not 443, in lower case.

    Raises:
        ValueError: it is an address, a pattern or no name at all.
    """
    name, _, port = value.lower().partition(":")
    labels = name.split(".")
    is_name = all(_LABEL.fullmatch(label) for label in labels) and not labels[-1].isdigit()
    if not is_name or (":" in value and not (port.isdigit() and 0 < int(port) < 2**16)):
        message = "must be the exact name of a host, `registry.example.org` or `registry.example.org:8443`"
        raise ValueError(message)
    return value.lower()


def checked_url(value: str) -> str:
    """The address of a server that speaks HTTP, without a slash at the end; empty stays empty.

    Raises:
        ValueError: it is none, or it holds a name or a password.
    """
    parts = urlsplit(value)
    if not value:
        return value
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        message = "must be an address such as `https://git.example.org`, without a user, a query or a fragment"
        raise ValueError(message)
    return value.rstrip("/")


def command_table(value: object) -> object:
    """A command as a table, also when it was written as text."""
    if isinstance(value, str):
        return {"run": value}
    if isinstance(value, dict) and isinstance(value.get("accept"), list):
        # What comes from a validator of our own is held to Python's strict types, where a list is no tuple.
        return {**value, "accept": tuple(value["accept"])}
    return value
