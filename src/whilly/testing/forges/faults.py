"""What can go wrong between a client and a server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What happens to a request."""

    REPLACED = "replaced"
    """It is not done; the fault's answer comes instead."""
    LOST = "lost"
    """It is done, and the connection ends without an answer."""
    MASKED = "masked"
    """It is done, and the fault's answer comes instead of the real one."""
    DOUBLED = "doubled"
    """It is done twice; the answer is the first one."""
    CUT = "cut"
    """It is done, and the answer's JSON breaks off half-way, with a length that fits."""
    MISSHAPEN = "misshapen"
    """It is done, and JSON of another shape comes: a list for an object, an object for a list."""
    EMPTIED = "emptied"
    """It is done, and what comes is an empty object where there should be one with something in it."""
    STALLED = "stalled"
    """It is not done; nothing comes until the server closes."""


@dataclass(slots=True)
class Fault:
    """One fault, for the next requests that fit.

    Attributes:
        path: a pattern that the path has to contain.
        times: how often it happens.
    """

    kind: Kind
    method: str = "POST"
    path: str = ""
    times: int = 1
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""

    def fits(self, method: str, path: str) -> bool:
        """Whether it happens to this request."""
        return self.times > 0 and method == self.method and re.search(self.path, path) is not None


HTML_502 = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
"""What a proxy says when the server behind it is away."""
