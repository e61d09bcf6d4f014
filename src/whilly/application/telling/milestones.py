"""Events of the ledger for programs: flat, with names that stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from whilly.domain.attempt import Outcome
from whilly.domain.flow.milestone import ISSUE_STAGES, Milestone, find_milestone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.telling.rows import EventRow
    from whilly.domain.ids import PlanId

_STAGES = {"verify": "verification", "integrate": "integration"}
_NOUNS = {**_STAGES, "mend": "repair"}
_ENDINGS = {"done": "task_done", "failed": "task_failed", "skipped": "task_skipped"}
_OTHERS = {
    "run_created": "task_started",
    "item_blocked": "blocked",
    "item_skipped": "task_skipped",
    "plan_begun": "plan_start",
    "plan_ended": "plan_done",
}


def describe_event(event: EventRow, plan: PlanId) -> dict[str, Any]:
    """One event, flat: what happened, when, to which task, and its details.

    Returns:
        `event` (the ledger's own name), `ts` (ISO 8601, UTC), `plan`; where it applies `task_id`, `run`, `attempt`,
        `stage`, `agent`, `outcome`, `reason`, `cost_usd`, `commit`, `status`, `milestone`, and whatever else the
        event has. `docs/reference/events.md` lists them.
    """
    data = _data(event)
    flat: dict[str, Any] = {"event": event.type, "ts": event.at.isoformat(timespec="milliseconds"), "plan": plan}
    if event.item:
        flat["task_id"] = event.item
    if event.run:
        flat["run"] = event.run
    details = _attempt(data, event.stage) if "number" in data and event.run else _numbered(data)
    flat |= {name: value for name, value in details.items() if value not in (None, "", [], ()) and name not in flat}
    milestone = name_milestone(event.type, flat)
    return {**flat, "milestone": milestone} if milestone else flat


def name_milestone(kind: str, details: Mapping[str, Any]) -> str:
    """The name under which people look for it: `verification_failed`, `repair_started`, `task_done`; often empty."""
    stage = str(details.get("stage", ""))
    noun = _NOUNS.get(stage, stage)
    match kind:
        case "attempt_started" if noun:
            return f"{noun}_started"
        case "attempt_ended" if noun:
            return _name_end(stage, str(details.get("outcome", "")), is_escalated=bool(details.get("is_escalated")))
        case "run_ended":
            return _ENDINGS.get(str(details.get("status", "")), "")
        case _:
            return _OTHERS.get(kind, "")


def _name_end(stage: str, outcome: str, *, is_escalated: bool) -> str:
    if is_escalated:
        return Milestone.ESCALATED
    if stage in ISSUE_STAGES:
        return str(find_milestone(stage, Outcome(outcome)) or "") if outcome else ""
    return f"{_NOUNS.get(stage, stage)}_{_result(stage, outcome)}"


def _result(stage: str, outcome: str) -> str:
    if stage in _STAGES:
        words = {"completed": "passed", "rejected": "failed", "conflict": "conflict"}
        return words.get(outcome, "ended")
    return "finished"


def _attempt(data: Mapping[str, Any], stage: str) -> dict[str, Any]:
    """An attempt's event with its result spread out; what only the next prompt needs is left out."""
    result = data.get("result") or {}
    usage = result.get("usage") or {}
    evidence = result.get("evidence") or {}
    return {
        "attempt": data["number"],
        "stage": stage,
        "agent": data.get("agent"),
        "reserved_usd": _number(data.get("reserved")),
        "tier": data.get("tier"),
        "outcome": result.get("outcome"),
        "reason": result.get("reason") or data.get("reason"),
        "cost_usd": _number(usage.get("cost_usd")),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "commit": result.get("commit"),
        "command": evidence.get("command"),
        "exit_code": evidence.get("exit_code"),
        "retry_at": result.get("retry_at"),
        "outside_claims": result.get("outside_claims"),
        "is_escalated": result.get("is_escalated") or None,
    }


def _numbered(data: Mapping[str, Any]) -> dict[str, Any]:
    """Money is stored as text, so that it stays exact; programs want numbers."""
    return {name: _number(value) if name in {"spent", "budget"} else value for name, value in data.items()}


def _number(value: object) -> float | None:
    return float(str(value)) if value is not None else None


def _data(event: EventRow) -> dict[str, Any]:
    try:
        data = json.loads(event.data)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
