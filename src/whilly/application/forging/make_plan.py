"""The plan of one issue: a single item, whose text the stages read anew."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from whilly.domain.ids import ItemId, PlanId
from whilly.domain.plan import Plan
from whilly.domain.text.clean import clean_foreign
from whilly.domain.text.names import slugify
from whilly.domain.work_item import Priority, WorkItem

if TYPE_CHECKING:
    from whilly.domain.forge.issue import Issue
    from whilly.domain.forge.reference import IssueRef


def plan_of(ref: IssueRef) -> PlanId:
    """The id of an issue's plan: the same however the issue was named."""
    digest = hashlib.sha256(ref.key.encode()).hexdigest()[:8]
    return PlanId(f"{slugify(ref.short, 48) or 'issue'}-{digest}")


def make_plan(issue: Issue) -> Plan:
    """A plan with one item, `owner/name#12` or `ABC-12`."""
    ref = issue.ref
    text = clean_foreign(f"{issue.title.strip()}\n\n{issue.body.strip()}").text.strip()
    item = WorkItem(ItemId(ref.short), text or ref.short, find_priority(issue), prd_requirement=issue.url)
    plan = plan_of(ref)
    return Plan(plan, ref.short, plan, issue.url, (item,))


def find_priority(issue: Issue) -> Priority:
    """The priority that a label `priority:…` or the tracker gives; medium where neither does."""
    words = {"highest": "critical", "blocker": "critical", "urgent": "critical", "normal": "medium"}
    words |= {"lowest": "low", "trivial": "low"}
    named = [label.lower().partition("priority:")[2].strip() for label in issue.labels if "priority:" in label.lower()]
    for name in (*named, issue.priority.lower()):
        if (word := words.get(name, name)) in set(Priority):
            return Priority(word)
    return Priority.MEDIUM
