"""Secrets taken out of text before anybody sees it or it is stored: by their values, and by their shapes."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Final, final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHORTEST = 8
"""Characters. What is shorter is no secret, and would be found in ordinary words."""

_NAMES = re.compile(
    r"TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY|AUTH(?!OR)|_KEY$|_PAT$|_DSN$", re.IGNORECASE
)
_NO_SECRETS = re.compile(r"(?:^|_)(?:FILE|PATH|SOCK|HELPER|DIR|URL|HOST|USER|METHOD)$", re.IGNORECASE)
_SHAPES: Final = (
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"sk-[A-Za-z0-9_-]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"AKIA[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
)
"""Tokens of well-known services, JSON web tokens, private keys."""
_USER_INFO = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://)[^\s/@:\"'<>]*:[^\s/@\"'<>]+@")
_HEADER = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization\b[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token)\s+)?[A-Za-z0-9+/=._~-]{8,}",
    re.IGNORECASE,
)
MASK = "<redacted>"
LONGEST_SHAPE = 512
"""Characters of a well-known token that is cut in two."""


def find_secrets(environment: Mapping[str, str]) -> list[str]:
    """The values of variables whose names say that they are secrets."""
    return [value for name, value in environment.items() if _NAMES.search(name) and not _NO_SECRETS.search(name)]


def spell(secret: str) -> set[str]:
    """The forms in which a secret turns up: itself, in URLs, JSON, hexadecimal and base64, there at any offset."""
    raw = secret.encode("utf-8", "surrogateescape")
    forms = {secret, raw.decode("latin-1"), json.dumps(secret)[1:-1], raw.hex(), raw.hex().upper()}
    forms |= {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            text = encode(b"\0" * before + raw).decode()
            # Six bits a character: those at both ends hold bits of what stands beside the secret, too.
            forms.add(text[-(-8 * before // 6) : 8 * (before + len(raw)) // 6])
    return {form for form in forms if len(form) >= SHORTEST}


@final
class Redactor:
    """Takes secrets out of text.

    Args:
        secrets: their values; those that are too short to be told from words are left out.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= SHORTEST for form in spell(secret.strip())}
        parts = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
        self._pattern = re.compile("|".join([*parts, *(f"(?:{shape})" for shape in _SHAPES)]))
        self.longest = max((LONGEST_SHAPE, *map(len, forms)))
        """Characters of the longest form: what may begin in one piece of a stream and end in the next."""

    def clean(self, text: str) -> str:
        """`text` without secrets."""
        text = self._pattern.sub(MASK, text)
        text = _USER_INFO.sub(rf"\g<scheme>{MASK}@", text)
        return _HEADER.sub(rf"\g<name>{MASK}", text)


@final
class RedactedStream:
    """A stream that comes in pieces: a secret that is cut in two is found all the same."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown by now; the end is held back, because a secret may go on in the next piece."""
        text = self._redactor.clean(self._held + piece)
        keep = min(len(text), self._redactor.longest)
        # A mask that is cut would not be known again.
        cut = len(text) - keep
        self._held = text[cut:]
        return text[:cut]

    def flush(self) -> str:
        """The rest, when nothing more comes."""
        rest, self._held = self._redactor.clean(self._held), ""
        return rest
