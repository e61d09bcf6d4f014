"""A report as Markdown for people and as JSON values for programs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from whilly.application.telling.report import Expense, Report, TaskLine
    from whilly.application.telling.rows import AttemptRow

_HEAD = ("task", "title", "status", "attempts", "time", "cost", "tokens in/out/cache", "commit", "why")


def render_markdown(report: Report) -> str:
    """The whole report; whatever titles and reasons hold, its tables stay tables."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    total, state = report.total, report.plan.state
    done = report.count(ItemStatus.DONE)
    yield f"# {_cell(report.plan.name)}: {done} of {len(report.tasks)} tasks done\n"
    yield f"- plan file: {_code(report.plan.source)}"
    if state.target:
        yield f"- target branch: {_code(state.target)}"
    if report.plan.begun_at:
        yield f"- last begun: {report.plan.begun_at.isoformat(timespec='seconds')}"
    yield f"- reported: {report.at.isoformat(timespec='seconds')}"
    if state.stop:
        yield f"- stopped: {state.stop}"
    yield f"- cost: {_money(total.cost)}{_basis(total)}{_cap(report)}"
    yield f"- attempts: {total.attempts}, {_time(total.worked)} of work; tokens in/out/cache: {_tokens(total)}"
    counts = ", ".join(f"{report.count(status)} {status}" for status in ItemStatus if report.count(status))
    yield f"- tasks: {counts or 'none'}\n"
    yield _row(_HEAD)
    yield _row(["---"] * len(_HEAD))
    yield from (_row(_cells(task)) for task in report.tasks)
    yield from _outside(report)
    yield from _attempts(report)


def _cells(task: TaskLine) -> list[str]:
    item = task.row.item
    return [
        _cell(item.id),
        _cell(item.title),
        task.row.status,
        str(task.expense.attempts),
        _time(task.took) if task.took is not None else "",
        f"{_money(task.expense.cost)}{_basis(task.expense)}" if task.expense.attempts else "",
        _tokens(task.expense) if task.expense.attempts else "",
        _code(task.commit[:12]) if task.commit else "",
        _cell(task.row.reason),
    ]


def _outside(report: Report) -> Iterator[str]:
    strayed = [task for task in report.tasks if task.outside]
    if strayed:
        yield "\n## Changed outside `key_files`\n"
    for task in strayed:
        yield f"- {_cell(task.row.item.id)}: {', '.join(map(_code, task.outside))}"


def _attempts(report: Report) -> Iterator[str]:
    tried = [(task, attempt) for task in report.tasks for attempt in task.attempts]
    if not tried:
        return
    yield "\n## Attempts\n"
    head = ("task", "run", "attempt", "stage", "agent", "outcome", "time", "cost", "basis", "reason")
    yield _row(head)
    yield _row(["---"] * len(head))
    for task, attempt in tried:
        yield _row(_attempt_cells(task, attempt, report))


def _attempt_cells(task: TaskLine, attempt: AttemptRow, report: Report) -> list[str]:
    result = attempt.result
    return [
        _cell(task.row.item.id),
        _cell(attempt.run.rpartition("-")[2]),
        str(attempt.number),
        _cell(attempt.stage),
        _cell(attempt.agent),
        result.outcome if result else "under way",
        _time((attempt.ended_at or report.at) - attempt.started_at),
        _money(attempt.cost) if attempt.cost is not None else "",
        _cell(attempt.basis or "") if attempt.cost is not None else "",
        _cell(result.reason if result else ""),
    ]


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Text that stays within its cell and means nothing to Markdown but itself."""
    line = " ".join(text.split())
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    for sign in "\\`*_[]<>|~":
        shown = shown.replace(sign, f"\\{sign}")
    return shown


def _code(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|")
    return f"``{plain}``" if "`" in plain else f"`{plain}`"


def _money(value: Decimal) -> str:
    return f"${value:.2f}" if value == 0 or value >= 1 else f"${value:.4f}"


def _basis(expense: Expense) -> str:
    if not expense.assumed and not expense.open:
        return ""
    parts = [f"{_money(expense.assumed)} of it assumed: unknown"] if expense.assumed else []
    parts += [f"{_money(expense.open)} more reserved"] if expense.open else []
    return f" ({', '.join(parts)})"


def _cap(report: Report) -> str:
    budget = report.plan.state.limits.budget
    return f" of {_money(budget)}" if budget is not None else ", no budget"


def _tokens(expense: Expense) -> str:
    usage = expense.usage
    return f"{usage.input_tokens}/{usage.output_tokens}/{usage.cache_read_tokens + usage.cache_write_tokens}"


def _time(value: timedelta) -> str:
    return str(timedelta(seconds=round(max(value, timedelta(0)).total_seconds())))


def report_as_json(report: Report) -> dict[str, Any]:
    """The report for programs; `docs/reference/json-output.md` lists the fields."""
    state = report.plan.state
    budget = state.limits.budget
    return {
        "plan": report.plan.id,
        "name": report.plan.name,
        "source": report.plan.source,
        "target": state.target,
        "stop": state.stop,
        "begun_at": report.plan.begun_at.isoformat() if report.plan.begun_at else None,
        "reported_at": report.at.isoformat(),
        "budget_usd": float(budget) if budget is not None else None,
        "counts": {status: report.count(status) for status in ItemStatus},
        "total": _expense_as_json(report.total),
        "items": [_task_as_json(task) for task in report.tasks],
    }


def _task_as_json(task: TaskLine) -> dict[str, Any]:
    return {
        "id": task.row.item.id,
        "title": task.row.item.title,
        "status": task.row.status,
        "reason": task.row.reason,
        "commit": task.commit,
        "outside_claims": list(task.outside),
        "took_sec": _seconds(task.took),
        **_expense_as_json(task.expense),
        "attempts": [_attempt_as_json(attempt) for attempt in task.attempts],
    }


def _expense_as_json(expense: Expense) -> dict[str, Any]:
    usage = expense.usage
    return {
        "attempt_count": expense.attempts,
        "cost_usd": float(expense.cost),
        "cost_reported_usd": float(expense.reported),
        "cost_assumed_usd": float(expense.assumed),
        "cost_open_usd": float(expense.open),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "turns": usage.turns,
        "worked_sec": _seconds(expense.worked),
    }


def _attempt_as_json(attempt: AttemptRow) -> dict[str, Any]:
    result = attempt.result
    usage = result.usage if result else None
    return {
        "run": attempt.run,
        "attempt": attempt.number,
        "stage": attempt.stage,
        "agent": attempt.agent,
        "session": attempt.session,
        "started_at": attempt.started_at.isoformat(),
        "ended_at": attempt.ended_at.isoformat() if attempt.ended_at else None,
        "outcome": result.outcome if result else None,
        "reason": result.reason if result else "",
        "cost_usd": float(attempt.cost) if attempt.cost is not None else None,
        "basis": attempt.basis if attempt.cost is not None else None,
        "reserved_usd": float(attempt.reserved) if attempt.reserved is not None else None,
        "input_tokens": usage.input_tokens if usage else 0,
        "output_tokens": usage.output_tokens if usage else 0,
    }


def _seconds(value: timedelta | None) -> float | None:
    return round(value.total_seconds(), 1) if value is not None else None
