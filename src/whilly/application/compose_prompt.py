"""The prompt of an attempt: the whole task, and what failed last time."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from whilly.domain.session import COMPLETION_MARKER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whilly.domain.flow.brief import Brief

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_MOMENTS = {"before": "before_start", "after": "before_finish"}


def clean(text: str) -> str:
    """`text` without what a person would not see: terminal codes, control, zero-width, direction and tag characters."""
    return _INVISIBLE.sub("", _ANSI.sub("", text))


def compose_prompt(brief: Brief, render: Callable[[str, Mapping[str, object]], str]) -> str:
    """The text that the agent reads.

    Args:
        brief: the attempt.
        render: fills the template of that name; an unknown variable is an error.
    """
    item = brief.item
    fence = hashlib.sha256(f"{brief.attempt}\0{item.description}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    facts = {"id": item.id, "title": clean(item.title), "key_files": list(item.key_files)}
    instructions = {_MOMENTS.get(moment, moment): lines for moment, lines in brief.instructions.items()}
    return render(
        brief.stage.prompt,
        {
            "item": item,
            "description": clean(item.description),
            "criteria": [clean(line) for line in item.acceptance_criteria],
            "steps": [clean(line) for line in item.test_steps],
            "facts": json.dumps(facts, ensure_ascii=False),
            "fence": fence,
            "evidence": brief.run.evidence,
            "output": clean(brief.run.evidence.output) if brief.run.evidence else "",
            "has_work": brief.run.head is not None,
            "has_session": brief.run.session is not None,
            "target": brief.target,
            "marker": COMPLETION_MARKER,
            "instructions": instructions,
            "notes": [clean(note) for note in brief.run.notes],
        },
    )
