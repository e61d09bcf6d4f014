"""`whilly why TASK`: the first condition that is not met."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from whilly.application.telling.explain import Case, explain
from whilly.cli.inspect.peek import peek
from whilly.cli.inspect.printing import print_lines
from whilly.cli.lost_work import find_lost_work
from whilly.cli.run_lock import find_owner
from whilly.cli.subject import json_option, open_ledger, plan_option, print_json, require_task
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from whilly.application.telling.explain import Explanation
    from whilly.application.telling.rows import ItemRow, PlanRow
    from whilly.bootstrap import Project
    from whilly.domain.attempt import Evidence

OUTPUT_LINES = 20
"""How much of a failed command's output is shown; `--json` has all that is kept."""


@click.command()
@click.argument("task")
@plan_option
@json_option
def why(task: str, wanted: str | None, *, as_json: bool) -> None:
    """Say why TASK is where it is: the first condition that is not met, with its evidence and its age."""
    project = open_ledger()
    plan, row = require_task(project, wanted, task)
    case = _make_case(project, plan, row)
    explanation = _add_loss(project, plan, case, explain(case))
    if as_json:
        print_json(_describe(case, explanation))
    else:
        print_lines(lambda _: _render(explanation, case.progress.at))


def _add_loss(project: Project, plan: PlanRow, case: Case, explanation: Explanation) -> Explanation:
    """The same, and that its work is on no branch any more if that is so."""
    lost = asyncio.run(find_lost_work(project, plan)) if case.row.status is ItemStatus.DONE else None
    if lost is None or case.name not in lost.items:
        return explanation
    sentence = f"{explanation.sentence}, but no branch has it any more"
    return replace(explanation, sentence=sentence, remedies=(*explanation.remedies, lost.remedy))


def _make_case(project: Project, plan: PlanRow, row: ItemRow) -> Case:
    rows = project.reading.items(plan.id)
    progress = peek(project, project.observer(plan.id).look())
    return Case(
        row=row,
        items={each.item.id: each for each in rows},
        progress=progress,
        attempts=project.reading.attempts(plan.id, row.item.id),
        is_attended=progress.phase is not PlanPhase.IDLE and find_owner(project.state) is not None,
        branch=_find_branch(project, row) if row.status is ItemStatus.FAILED else "",
    )


def _find_branch(project: Project, row: ItemRow) -> str:
    workspace = project.workspace_in(project.tier_of(row.item))
    return asyncio.run(workspace.find_branch(row.run.id)) or "" if row.run else ""


def _render(explanation: Explanation, now: datetime) -> Iterator[str]:
    from whilly.tui.neutral import block, one_line  # noqa: PLC0415  (as above)
    from whilly.tui.words import clock_time, duration  # noqa: PLC0415  (as above)

    yield one_line(explanation.sentence, 1000)
    for fact in explanation.facts:
        age = f"  ({clock_time(fact.at, now)}, {duration(now - fact.at)} ago)" if fact.at else ""
        yield f"  - {one_line(fact.text, 500)}{age}"
    failure = explanation.failure
    if failure is not None:
        if failure.command:
            yield f"  $ {one_line(failure.command, 500)}   → {_tell_code(failure)}"
        for hint in failure.hints:
            yield f"  ! {one_line(hint, 500)}"
        for line in block(failure.output).splitlines()[-OUTPUT_LINES:]:
            yield f"  | {line}"
    for remedy in explanation.remedies:
        yield f"  → {one_line(remedy, 500)}"


def _tell_code(failure: Evidence) -> str:
    return "ended by its time limit" if failure.exit_code is None else f"exit code {failure.exit_code}"


def _describe(case: Case, explanation: Explanation) -> dict[str, Any]:
    now, failure = case.progress.at, explanation.failure
    return {
        "id": case.name,
        "title": case.row.item.title,
        "plan": case.progress.plan,
        "status": case.row.status,
        "sentence": explanation.sentence,
        "evidence": [
            {
                "text": fact.text,
                "at": fact.at.isoformat() if fact.at else None,
                "age_sec": round((now - fact.at).total_seconds(), 1) if fact.at else None,
            }
            for fact in explanation.facts
        ],
        "failure": describe_evidence(failure) if failure is not None else None,
        "remedies": list(explanation.remedies),
    }


def describe_evidence(evidence: Evidence) -> dict[str, Any]:
    """What failed, for programs."""
    return {
        "summary": evidence.summary,
        "command": evidence.command,
        "exit_code": evidence.exit_code,
        "output": evidence.output,
        "hints": list(evidence.hints),
        "paths": list(evidence.paths),
        "remedy": evidence.remedy,
    }
