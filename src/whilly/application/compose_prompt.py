"""The prompt of an attempt: the whole task, and what failed last time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from whilly.domain.session import COMPLETION_MARKER
from whilly.domain.text.clean import clean
from whilly.domain.text.fence import make_fence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whilly.domain.flow.brief import Brief

_MOMENTS = {"before": "before_start", "after": "before_finish"}


def compose_prompt(brief: Brief, render: Callable[[str, Mapping[str, object]], str]) -> str:
    """The text that the agent reads.

    Args:
        brief: the attempt.
        render: fills the template of that name; an unknown variable is an error.
    """
    item = brief.item
    description, requirement = clean(item.description), clean(item.prd_requirement)
    criteria = [clean(line) for line in item.acceptance_criteria]
    steps = [clean(line) for line in item.test_steps]
    facts = {"id": item.id, "title": clean(item.title), "key_files": list(item.key_files)}
    instructions = {_MOMENTS.get(moment, moment): lines for moment, lines in brief.instructions.items()}
    return render(
        brief.stage.prompt,
        {
            "item": item,
            "description": description,
            "requirement": requirement,
            "criteria": criteria,
            "steps": steps,
            "facts": json.dumps(facts, ensure_ascii=False),
            "fence": make_fence(brief.attempt, [description, requirement, *criteria, *steps]),
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
