"""Answers that are errors, as the errors of Whilly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, PortError, Unavailable

if TYPE_CHECKING:
    from whilly.transport.http.answer import Answer

_SERVER_ERRORS = 500
_REPEATABLE = frozenset({408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_ABSENT = frozenset({404, 410})
_GITEA_SCOPES = re.compile(r"required scope\(s\):\s*\[?([^\]]+)\]?")


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end, for messages.

    Attributes:
        label: `GitHub (https://api.github.com)`.
        token: what to do about its token: `set forges.github.token`.
    """

    label: str
    token: str = "set its token"  # noqa: S105  (an instruction)


class Unanswered(Unavailable):
    """It was sent, and there was no usable answer: it may have been done."""


def is_passing(answer: Answer) -> bool:
    """Whether the same request may be answered better in a moment."""
    return answer.status in _REPEATABLE


def translate(answer: Answer, what: str, peer: Peer) -> PortError:
    """The error that an answer stands for."""
    said = f"{answer.status}: {answer.message}" if answer.message else str(answer.status)
    if answer.status == _UNAUTHORIZED:
        return NotAuthorized(f"{peer.label} refuses the token ({said})", remedy=f"{peer.token}, it may have expired")
    if answer.status == _FORBIDDEN:
        return _forbid(answer, f"{what} is forbidden ({said})", peer)
    if answer.status in _ABSENT:
        remedy = "check the name; what the token may not see looks absent, too"
        return NotFound(f"{what}: there is no such thing ({said})", remedy=remedy)
    if answer.status >= _SERVER_ERRORS:
        return Unavailable(f"{what} failed ({said})", remedy=f"see whether {peer.label} is well, and try again")
    return BadResponse(f"{what} was refused ({said})")


def missing_scopes(answer: Answer) -> str:
    """The scopes of which the token has none, as the provider says it; empty when it does not say."""
    accepted = answer.headers.get("x-accepted-oauth-scopes", "")
    owned = {scope.strip() for scope in answer.headers.get("x-oauth-scopes", "").split(",")}
    if accepted and "x-oauth-scopes" in answer.headers:
        wanted = {scope.strip() for scope in accepted.split(",")}
        return "" if wanted & owned else " or ".join(sorted(wanted))
    if permissions := answer.headers.get("x-accepted-github-permissions", ""):
        return permissions.replace(";", " or")
    if found := _GITEA_SCOPES.search(answer.message):
        return found[1].strip()
    # GitLab says it in the body, OAuth in a header.
    scope = re.search(r'"scope":\s*"([^"]+)"', answer.text[:1000])
    scope = scope or re.search(r'scope="([^"]+)"', answer.headers.get("www-authenticate", ""))
    return scope[1] if scope else ""


def _forbid(answer: Answer, message: str, peer: Peer) -> NotAuthorized:
    if scopes := missing_scopes(answer):
        return NotAuthorized(f"{message}: the token lacks {scopes}", remedy=f"{peer.token} to one that has {scopes}")
    if sso := answer.headers.get("x-github-sso", ""):
        url = sso.partition("url=")[2]
        return NotAuthorized(message, remedy=f"authorize the token for the organisation: {url}" if url else peer.token)
    return NotAuthorized(message, remedy="give the token's account, or the token, more rights")
