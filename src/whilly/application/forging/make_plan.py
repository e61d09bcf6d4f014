"""The plan of one issue: a single item, whose text the stages read anew."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from whilly.domain.ids import ItemId, PlanId
from whilly.domain.intake.issue_text import read_issue
from whilly.domain.intake.normalize import normalize_issue
from whilly.domain.intake.spec import make_item
from whilly.domain.plan import Plan
from whilly.domain.text.names import slugify

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
    plan, item = plan_of(ref), make_item(normalize_issue(read_issue(issue)), ItemId(ref.short))
    return Plan(plan, ref.short, plan, issue.url or ref.key, (item,))
