"""The files of a hand-off, to and from domain values. The names are those of the predecessor."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whilly.domain.attempt import Usage
from whilly.domain.handoff import Answer, AnswerStatus, Handoff
from whilly.domain.ids import AttemptId, ItemId

VERSION = 1
_MOMENT = "%Y-%m-%d %H:%M:%SZ"
_Count = Annotated[int, Field(ge=0, le=10**15)]
_Seconds = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]


class _Payload(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class _UsagePayload(_Payload):
    cost_usd: Annotated[Decimal, Field(ge=0, le=10**6, allow_inf_nan=False)] | None = None
    num_turns: _Count = 0
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_tokens: _Count = 0
    cache_create_tokens: _Count = 0


class _ResultPayload(_Payload):
    status: AnswerStatus
    message: str = ""
    attempt: str = ""
    by: Annotated[str, Field(max_length=200)] = ""
    whom: Annotated[str, Field(max_length=200)] = ""
    duration_s: _Seconds | None = None
    usage: _UsagePayload = _UsagePayload()


class _MetaPayload(_Payload):
    attempt: str
    task_id: str
    title: str = ""
    stage: str = ""
    plan_file: str | None = None
    cwd: str
    branch: str = ""
    started_at: str
    timeout_s: _Seconds = 0


def render_meta(handoff: Handoff, now: datetime) -> bytes:
    """`meta.json`."""
    limit = handoff.time_limit.total_seconds() if handoff.time_limit else 0
    fields = {
        "version": VERSION,
        "attempt": handoff.attempt,
        "task_id": handoff.item,
        "title": handoff.title,
        "stage": handoff.stage,
        "plan_file": handoff.source or None,
        "cwd": handoff.workspace,
        "branch": handoff.branch,
        "started_at": (handoff.started_at or now).astimezone(UTC).strftime(_MOMENT),
        "timeout_s": limit,
    }
    return _render(fields)


def parse_meta(data: bytes) -> Handoff | None:
    """What `meta.json` says, without the prompt; None when somebody has damaged it."""
    try:
        meta = _MetaPayload.model_validate_json(data)
        started_at = datetime.strptime(meta.started_at, _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return Handoff(
        attempt=AttemptId(meta.attempt),
        item=ItemId(meta.task_id),
        title=meta.title,
        stage=meta.stage,
        prompt="",
        workspace=meta.cwd,
        branch=meta.branch,
        source=meta.plan_file or "",
        started_at=started_at,
        time_limit=timedelta(seconds=meta.timeout_s) if meta.timeout_s else None,
    )


def render_result(attempt: AttemptId, answer: Answer) -> bytes:
    """`result.json`."""
    usage = answer.usage
    fields = {
        "status": answer.status,
        "message": answer.message,
        "attempt": attempt,
        "by": answer.by,
        "whom": answer.whom,
        "duration_s": answer.took.total_seconds() if answer.took is not None else None,
        "usage": {
            "cost_usd": float(usage.cost_usd) if usage.cost_usd is not None else None,
            "num_turns": usage.turns,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_create_tokens": usage.cache_write_tokens,
        },
    }
    return _render(fields)


def parse_result(data: bytes, attempt: AttemptId) -> Answer | str:
    """The answer in `result.json`, or what is wrong with it, in one line."""
    try:
        result = _ResultPayload.model_validate_json(data.removeprefix(b"\xef\xbb\xbf"), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"{where}: {first['msg']}" if where else first["msg"]
    if result.attempt and result.attempt != attempt:
        return f"it is the answer to attempt {result.attempt[:100]!r}, and this is {attempt!r}"
    usage = result.usage
    counted = Usage(
        usage.cost_usd,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_create_tokens,
        usage.num_turns,
    )
    took = timedelta(seconds=result.duration_s) if result.duration_s is not None else None
    return Answer(result.status, result.message, result.by, result.whom, counted, took)


def render_withdrawal(reason: str, now: datetime) -> bytes:
    """`withdrawn.json`."""
    return _render({"reason": reason, "at": now.astimezone(UTC).strftime(_MOMENT)})


def parse_withdrawal(data: bytes) -> str:
    """Why it was withdrawn."""
    try:
        fields = json.loads(data)
    except ValueError:
        return ""
    reason = fields.get("reason") if isinstance(fields, dict) else None
    return reason if isinstance(reason, str) else ""


def _render(fields: dict[str, Any]) -> bytes:
    return f"{json.dumps(fields, ensure_ascii=True, indent=1)}\n".encode()
