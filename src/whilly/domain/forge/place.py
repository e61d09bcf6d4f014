"""Places where work items and pull requests live, as far as references to them need to know them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit


class Provider(StrEnum):
    """Whose wire format a place speaks. Forgejo speaks Gitea's."""

    GITHUB = "github"
    GITEA = "gitea"
    GITLAB = "gitlab"
    JIRA = "jira"
    PLANE = "plane"

    @property
    def has_repositories(self) -> bool:
        """Whether its items are `owner/name#12`; those of the others have keys, `ABC-12`."""
        return self not in {Provider.JIRA, Provider.PLANE}


@dataclass(frozen=True, slots=True)
class Place:
    """One tracker or forge.

    Attributes:
        name: what the settings call it.
        url: where people see it, without a slash at the end.
    """

    name: str
    provider: Provider
    url: str

    def find_path(self, url: str) -> str | None:
        """The path of `url` inside of this place, without the slashes around it; None when it lies elsewhere."""
        own, other = urlsplit(self.url), urlsplit(url)
        if _endpoint(own.scheme, own.netloc) != _endpoint(other.scheme, other.netloc):
            return None
        prefix = own.path.rstrip("/") + "/"
        return other.path.removeprefix(prefix).strip("/") if (other.path + "/").startswith(prefix) else None


def _endpoint(scheme: str, netloc: str) -> tuple[str, str]:
    """Host and port; a name and a password in the address say nothing about where it leads."""
    host, _, port = netloc.rpartition("@")[2].lower().removeprefix("www.").partition(":")
    return host, port or {"http": "80", "https": "443"}.get(scheme.lower(), "")


GITHUB_COM = Place("github", Provider.GITHUB, "https://github.com")
"""Known without any settings."""

KNOWN_HOSTS = {"github.com": "github", "gitlab.com": "gitlab", "codeberg.org": "forgejo", "gitea.com": "gitea"}
"""Public services → the kind that the settings would say."""


def guess_kind(host: str) -> str:
    """The kind that a place on this host probably is; empty when the name says nothing."""
    if host.endswith(".atlassian.net"):
        return "jira"
    if host.endswith((".plane.so", ".ghe.com")) or host == "plane.so":
        return "github" if host.endswith(".ghe.com") else "plane"
    words = ("github", "gitlab", "forgejo", "gitea", "jira", "plane")
    return KNOWN_HOSTS.get(host, next((word for word in words if word in host), ""))
