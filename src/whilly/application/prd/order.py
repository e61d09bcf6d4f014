"""An order for a product description: the plan of one item, and what its stages need."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from whilly.domain.ids import ItemId, PlanId
from whilly.domain.plan import Plan
from whilly.domain.prd.idea import Idea
from whilly.domain.work_item import WorkItem
from whilly.ports.delivery.documents import Documents


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be described, and where to.

    Attributes:
        replaces: a document that is there already may be replaced.
    """

    idea: Idea
    documents: Documents
    replaces: bool = False


def make_plan(idea: Idea) -> Plan:
    """A plan with one item; the same words give the same plan."""
    name = f"PRD-{idea.slug}"
    digest = hashlib.sha256(idea.text.encode("utf-8", "replace")).hexdigest()[:8]
    plan = PlanId(f"{name.lower()}-{digest}")
    item = WorkItem(ItemId(name), idea.text, key_files=(idea.document,))
    return Plan(plan, name, plan, idea.document, (item,))
