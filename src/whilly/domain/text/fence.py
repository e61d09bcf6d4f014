"""A fence around text in a prompt that the text cannot close."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

LENGTH: Final = 12


def make_fence(seed: str, texts: Iterable[str]) -> str:
    """A word that occurs in none of the texts and cannot be known by who wrote them; the same for the same arguments.

    Args:
        seed: differs for every attempt, so that what was seen once is of no use the next time.
        texts: all that is going to stand inside.
    """
    inside = tuple(texts)
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass"))
    for text in inside:
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    word = digest.hexdigest()[:LENGTH]
    while any(word in text for text in inside):
        digest.update(b"again")
        word = digest.hexdigest()[:LENGTH]
    return word
