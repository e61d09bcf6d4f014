"""One issue, opened: its tracker, its forge, its branches, and what became of it."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whilly.adapters.git.remote import GitRemote
from whilly.adapters.system.artefacts import FileArtefacts
from whilly.application.choose_target import Branches, choose_target
from whilly.application.forging.desk import Desk, PullRules, at
from whilly.application.forging.ingest_issue import ingest_issue
from whilly.application.forging.look_after import look_after
from whilly.application.forging.publish_change import publish_change
from whilly.application.forging.rebase_branch import rebase_branch
from whilly.application.forging.records import PULL_REQUEST
from whilly.application.forging.understand_issue import challenge, check_readiness, normalize, select_strategy
from whilly.application.forging.work_on_issue import with_issue
from whilly.application.hand_over import hand_over
from whilly.application.integrate_change import integrate_change
from whilly.application.run_session import run_session
from whilly.application.verify_change import verify_change
from whilly.cli.exit_codes import ExitCode
from whilly.domain.errors import RuleViolation
from whilly.domain.forge.issue import Issue, IssueState
from whilly.domain.forge.pull_request import MergeMethod, PushAccess
from whilly.domain.forge.reference import IssueRef, parse_reference, shorten
from whilly.domain.secret import Secret
from whilly.domain.text.names import name_branch
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.application.telling.progress import Progress
    from whilly.bootstrap import Project
    from whilly.domain.plan import Plan
    from whilly.engine.driving.driver import Handler

FEEDBACK = "feedback"
"""The stage in which a pull request waits for people."""


@dataclass(frozen=True, slots=True)
class Case:
    """An issue as it was when the command began, and the desk that it is worked on at."""

    issue: Issue
    desk: Desk

    def actions(self) -> Mapping[str, Handler]:
        """Who carries out the actions of the pipeline `forge`."""
        return {
            "": at(self.desk, with_issue(run_session)),
            "handoff": at(self.desk, with_issue(hand_over)),
            "verify": at(self.desk, with_issue(verify_change)),
            "integrate": at(self.desk, with_issue(integrate_change)),
            "intake": at(self.desk, ingest_issue),
            "normalize": at(self.desk, normalize),
            "readiness": at(self.desk, check_readiness),
            "challenge": at(self.desk, challenge),
            "strategy": at(self.desk, select_strategy),
            "publish": at(self.desk, publish_change),
            FEEDBACK: at(self.desk, look_after),
            "rebase": at(self.desk, rebase_branch),
        }


def open_case(project: Project, text: str, base: str, *, is_watching: bool) -> Case:
    """The issue that `text` names.

    Raises:
        RuleViolation: it names none, or one that is closed.
        ConfigError: it lies on a place that is not configured.
        PortError: it cannot be read.
    """
    ref = parse_reference(text, project.places.known())
    if not isinstance(ref, IssueRef):
        message = f"{shorten(text)} is no issue of a forge"
        raise RuleViolation(message, remedy="write owner/repo#12, or the issue's URL")
    issue, access = asyncio.run(_fetch(project, ref))
    if issue.state is IssueState.CLOSED:
        message = f"issue {ref.short} is closed ({issue.status})"
        raise RuleViolation(message, remedy="open it again, if there is still something to do")
    line = project.places.connect(ref.place)
    header = Secret(f"Basic {base64.b64encode(f'{access.username}:{access.password.reveal()}'.encode()).decode()}")
    desk = Desk(
        ref=ref,
        repository=ref.scope,
        base=base,
        tracker=line.tracker,
        forge=line.forge,
        remote=GitRemote(project.git, project.root, access.url, header),
        artefacts=open_artefacts(project),
        provider=line.place.provider,
        rules=_rules(project, is_watching=is_watching),
    )
    return Case(issue, desk)


async def _fetch(project: Project, ref: IssueRef) -> tuple[Issue, PushAccess]:
    line = project.places.connect(ref.place)
    async with line:
        return await line.tracker.fetch_issue(ref), await line.forge.fetch_push_access(ref.scope)


def _rules(project: Project, *, is_watching: bool) -> PullRules:
    wanted = project.settings.pull_request
    return PullRules(
        is_draft={"always": True, "never": False}.get(wanted.draft),
        labels=wanted.labels,
        reviewers=wanted.reviewers,
        look_every=wanted.look_s if is_watching else None,
        follows_base=wanted.follow_base,
        merges_itself=wanted.auto_merge,
        method=MergeMethod(wanted.merge_method),
    )


def open_artefacts(project: Project) -> FileArtefacts:
    """What the stages of the project's runs have left."""
    return FileArtefacts(project.state / "runs")


def prepare_branches(project: Project, case: Case) -> Branches:
    """The issue's own branch, begun at what the base branch is at the forge now."""
    base = asyncio.run(case.desk.remote.fetch(case.desk.base))
    branch = name_branch(case.issue.ref.number, case.issue.title)
    known = _known_branch(project, case)
    return asyncio.run(choose_target(project.repository, base, known or branch, branch))


def _known_branch(project: Project, case: Case) -> str:
    """The branch that earlier work on the issue went to: its title may have changed since."""
    from whilly.application.forging.make_plan import plan_of  # noqa: PLC0415  (as above)

    plan = plan_of(case.issue.ref)
    rows = [row for row in project.reading.plans() if row.id == plan] if project.has_ledger else []
    return rows[0].state.target if rows else ""


def revive(project: Project, plan: Plan) -> None:
    """Who waits for people, or has failed, is looked at again: that is what the command was given for."""
    if not project.has_ledger or all(row.id != plan.id for row in project.reading.plans()):
        return
    for row in project.reading.items(plan.id):
        if row.status not in {ItemStatus.PENDING, ItemStatus.IN_PROGRESS, ItemStatus.DONE}:
            project.planning().retry(plan.id, row.item.id, "whilly forge")


def conclude(project: Project, progress: Progress, code: ExitCode) -> tuple[Progress, ExitCode]:
    """The pull request that came of it; one that waits for nothing but people is what was asked for."""
    (row,) = project.reading.items(progress.plan)
    document = asyncio.run(open_artefacts(project).load(row.run.id, PULL_REQUEST)) if row.run else None
    progress = replace(progress, pull_request=str(document["url"]) if document else "")
    is_open = row.status is ItemStatus.HUMAN_LOOP and row.run is not None and row.run.stage == FEEDBACK
    return progress, ExitCode.DONE if is_open and code is ExitCode.FAILED else code
