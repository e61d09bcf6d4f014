"""The ledger, and the plans in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whilly.application.survey import LedgerState
from whilly.application.telling.going_on import is_of_issue
from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said, Severity
from whilly.cli.lost_work import find_lost_work
from whilly.domain.flow.plan_run import PlanPhase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.application.survey import KnownPlan
    from whilly.cli.doctor.site import Site

_MOVE_AWAY = "restore it from a copy, or move it away: what was integrated is in git"
_REACH = "check its owner, its mode, the disk and storage.database_url"


def look_at_ledger(site: Site) -> Iterator[Said]:
    """Whether it can be worked with."""
    survey = site.survey
    place = "storage.database_url" if site.project.settings.storage.database_url else ".whilly/whilly.db"
    match survey.state:
        case LedgerState.ABSENT:
            yield Fact("ledger", "none yet")
        case LedgerState.CURRENT:
            yield Fact("ledger", f"plans: {len(survey.plans)}, runs: {len(survey.runs)}")
        case LedgerState.OUTDATED:
            yield found("ledger_outdated", f"the ledger is not up to date: {survey.detail}", subject=place)
        case LedgerState.NEWER:
            what = f"the ledger was written by a newer Whilly: {survey.detail}"
            yield found("ledger_newer", what, subject=place, remedy="upgrade Whilly: pip install --upgrade whilly")
        case LedgerState.UNREADABLE:
            what = f"the ledger cannot be read: {survey.detail}"
            yield found("ledger_unreadable", what, subject=place, remedy=_REACH)
        case LedgerState.DAMAGED:
            yield found("ledger_damaged", f"the ledger is damaged: {survey.detail}", subject=place, remedy=_MOVE_AWAY)
        case LedgerState.UNKNOWN:
            what = "the ledger was not looked at, because the configuration is invalid"
            yield found("ledger_not_examined", what, subject=place, remedy="correct the configuration")


def look_at_plans(site: Site) -> Iterator[Said]:
    """Whether somebody works on those that are said to be worked on, and whether their files are there."""
    for plan in site.survey.plans:
        if plan.phase is not PlanPhase.IDLE and site.owner is None:
            what = f"plan {plan.name} is {plan.phase} in the ledger, and no Whilly is alive"
            yield found("plan_active", what, subject=plan.id)
        yield from _judge_file(plan, site.project.root)


async def look_at_lost_work(site: Site) -> Iterable[Said]:
    """Whether the work of tasks that are done is still on a branch."""
    said: list[Said] = []
    if site.is_settled and site.survey.plans:
        for plan in site.project.reading.plans():
            lost = await find_lost_work(site.project, plan)
            if lost is not None:
                what = f"plan {plan.name}: {lost.what}"
                said.append(found("work_unreachable", what, subject=plan.id, remedy=lost.remedy))
        site.project.database.dispose()
    return said


def _judge_file(plan: KnownPlan, root: Path) -> Iterator[Said]:
    source = Path(plan.source)
    if is_of_issue(plan.source):
        return
    if not source.is_file():
        severity = Severity.NOTE if plan.is_over else Severity.PROBLEM
        what = f"plan {plan.name} came from {source}, which is not there"
        remedy = "nothing: the plan is over" if plan.is_over else f"restore it: git checkout -- {source}"
        yield found("plan_file_missing", what, subject=plan.id, remedy=remedy, severity=severity)
    elif not source.resolve().is_relative_to(root.resolve()):
        what = f"plan {plan.name} came from {source}, outside the repository"
        yield found("plan_file_outside", what, subject=plan.id, remedy="move it into the repository and commit it")
