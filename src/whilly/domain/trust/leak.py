"""What secrets look like, for text that is about to leave a place where they may be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PATTERNS: Mapping[str, re.Pattern[bytes]] = {
    "a private key": re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    "a GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
    "a GitLab token": re.compile(rb"\bglpat-[A-Za-z0-9_-]{20,}"),
    "an Anthropic key": re.compile(rb"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "an OpenAI key": re.compile(rb"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,}"),
    "a Google key": re.compile(rb"\bAIza[A-Za-z0-9_-]{35}"),
    "an AWS key": re.compile(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a Slack token": re.compile(rb"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    "an npm token": re.compile(rb"\bnpm_[A-Za-z0-9]{36}"),
    "a password in an address": re.compile(
        rb"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@'\"<>{}$]{1,100}:[^/\s:@'\"<>{}$]{3,200}@[\w.-]+"
    ),
}
"""Kind → what it looks like; kept few and sure, as each hit stops somebody's work."""


def find_leaks(content: bytes) -> list[str]:
    """The kinds of secrets that seem to be in there."""
    return [kind for kind, pattern in PATTERNS.items() if pattern.search(content)]
