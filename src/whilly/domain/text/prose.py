"""Tells sentences from commands, where it is plain."""

from __future__ import annotations

import re
from typing import Final

_CAPITALIZED_PROGRAMS: Final = frozenset({"R", "Rscript", "Xvfb", "PowerShell", "Makefile", "X"})
_SENTENCE_START: Final = re.compile(r"([A-Z][a-z]+)[,:;.]?(\s|\Z)")
_FOREIGN_START: Final = re.compile(r"[^\W\d_a-zA-Z]\w*[,:;.]?(\s|\Z)")
_TURN_OF_PHRASE: Final = re.compile(
    r"(verify|ensure|confirm|please|manually|should|must|the|an|all|it|there|when|if you|no)\s"
    r"|(check|make|test|run|see|open|read|look)\s+(that|if|whether|sure|the|it|all|at|this)\s",
    re.IGNORECASE,
)


def is_prose(step: str) -> bool:
    """Whether a test step is plainly a sentence for people and no shell command; in doubt it is a command."""
    text = step.strip().lstrip("-*• ")
    start = _SENTENCE_START.match(text)
    if start and start[1] not in _CAPITALIZED_PROGRAMS:
        return True
    return bool(_FOREIGN_START.match(text) or _TURN_OF_PHRASE.match(text))
