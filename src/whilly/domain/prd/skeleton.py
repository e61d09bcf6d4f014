"""From a product description to a plan file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whilly.domain.prd.document import Prd, Requirement


def make_plan(prd: Prd, created_at: str, file: str = "") -> dict[str, Any]:
    """A plan with one task for each requirement, in the form of a plan file.

    A requirement that names no other waits for those of the phase before it. What the description does not say is not
    made up: a requirement without files claims none, one without commands has none.

    Args:
        prd: without faults; otherwise the plan has them, too.
        created_at: ISO 8601.
        file: where the description is; by default where its title says.
    """
    names = {each.id: f"TASK-{number:03}" for number, each in enumerate(prd.requirements, start=1)}
    return {
        "project": prd.title,
        "prd_file": file or prd.file,
        "created_at": created_at,
        "tasks": [_make_task(each, prd, names) for each in prd.requirements],
    }


def _make_task(each: Requirement, prd: Prd, names: dict[str, str]) -> dict[str, Any]:
    wanted = each.depends or _list_phase_before(each, prd)
    return {
        "id": names[each.id],
        "phase": str(each.phase),
        "category": "feature",
        "priority": str(each.priority),
        "description": "\n\n".join(part for part in (each.title, each.text.strip()) if part),
        "status": "pending",
        "dependencies": [names[name] for name in wanted if name in names],
        "key_files": list(each.key_files),
        "acceptance_criteria": list(each.criteria),
        "test_steps": list(each.test_steps),
        "prd_requirement": each.id,
    }


def _list_phase_before(each: Requirement, prd: Prd) -> tuple[str, ...]:
    earlier = {other.phase for other in prd.requirements if other.phase < each.phase}
    return tuple(other.id for other in prd.requirements if earlier and other.phase == max(earlier))
