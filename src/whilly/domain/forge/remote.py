"""Where a clone came from: the address of its remote, read as a repository of a known place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.domain.forge.place import Place

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?!//)(?P<path>[^\s]+)")
"""Git's short form: `git@host:owner/name.git`."""


@dataclass(frozen=True, slots=True)
class Home:
    """The repository `owner/name` of a place."""

    place: str
    repository: str


def find_home(remote: str, places: Sequence[Place]) -> Home | None:
    """The repository that the address of a remote names; None when it is on no known place."""
    remote = remote.strip()
    scheme = urlsplit(remote).scheme if "://" in remote else ""
    for place in sorted(places, key=lambda each: -len(each.url)):
        path = place.find_path(remote) if scheme in {"http", "https"} else _find_ssh_path(remote, place)
        repository = (path or "").removesuffix(".git").strip("/")
        if "/" in repository:
            return Home(place.name, repository)
    return None


def _find_ssh_path(remote: str, place: Place) -> str | None:
    """By the host alone: SSH has other ports, and no prefix of the path."""
    if "://" in remote:
        parts = urlsplit(remote)
        host, path = parts.hostname or "", parts.path
    elif found := _SCP.fullmatch(remote):
        host, path = found["host"], found["path"]
    else:
        return None
    own = (urlsplit(place.url).hostname or "").removeprefix("www.")
    # GitHub's SSH over the port of HTTPS has a name of its own.
    return path if host.lower() in {own, f"ssh.{own}", f"altssh.{own}"} else None
