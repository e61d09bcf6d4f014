"""One issue, opened: its tracker, its forge, its branches, and what became of it."""

from __future__ import annotations

import asyncio
import base64
import itertools
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.git.delivery.trees import GitTrees
from whilly.adapters.git.remote import GitRemote
from whilly.adapters.planfile.tracker import TextTracker, read_task, read_text
from whilly.adapters.system.artefacts import FileArtefacts
from whilly.application.choose_target import Branches, choose_target
from whilly.application.forging.desk import Asking, Desk, IssueRules, PullRules, Without, at
from whilly.application.forging.ingest_issue import ingest_issue
from whilly.application.forging.judging.judge_change import judge_change
from whilly.application.forging.judging.settle_repair import settling
from whilly.application.forging.make_plan import plan_of
from whilly.application.forging.plan_work import follow_parts, gather_parts, plan_work
from whilly.application.forging.publishing.look_after import look_after
from whilly.application.forging.publishing.publish_change import publish_change
from whilly.application.forging.publishing.rebase_branch import rebase_branch
from whilly.application.forging.records import PULL_REQUEST
from whilly.application.forging.understand_issue import challenge, check_readiness, normalize, select_strategy
from whilly.application.forging.weigh_opinion import weigh_opinion
from whilly.application.forging.work_on_issue import ask_or, for_parts, hand_over_or_skip, integrate_issue
from whilly.application.hand_over import hand_over
from whilly.application.integrate_change import integrate_change
from whilly.application.run_session import run_session
from whilly.application.verify_change import verify_change
from whilly.bootstrap.parts import LedgerParts, open_divider
from whilly.cli.exit_codes import ExitCode
from whilly.cli.forge.fitness import require_relation, require_room
from whilly.domain.delivery.proof import Demand
from whilly.domain.errors import ConfigError, RuleViolation
from whilly.domain.flow.run import REVIEWERS
from whilly.domain.forge.issue import Issue, IssueState
from whilly.domain.forge.pull_request import MergeMethod, PullRef, PullState, PushAccess
from whilly.domain.forge.reference import IssueRef, ItemRef, StandardInput, TaskRef, parse_reference, shorten
from whilly.domain.forge.remote import Home
from whilly.domain.secret import Secret
from whilly.domain.text.clean import clean, decode
from whilly.domain.text.names import name_branch, slugify
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.places import Connected
    from whilly.application.telling.progress import Progress
    from whilly.application.telling.rows import ItemRow
    from whilly.bootstrap import Project
    from whilly.domain.ids import CommitId, ItemId, PlanId
    from whilly.domain.plan import Plan
    from whilly.domain.work_item import WorkItem
    from whilly.engine.driving.driver import Handler
    from whilly.ports.tracker import Tracker

_ASKING = frozenset({"intake", "readiness", "weigh"})
"""Stages that read the issue anew, and end a run whose issue is closed."""
MAX_TEXT = 8 << 20
"""Bytes that are read of standard input."""


@dataclass(frozen=True, slots=True)
class Case:
    """An issue as it was when the command began, and the desk that it is worked on at."""

    issue: Issue
    desk: Desk

    def actions(self) -> Mapping[str, Handler]:
        """Who carries out the actions of the pipeline `forge`."""
        return {
            "": at(self.desk, for_parts(run_session, ask_or(settling(run_session)))),
            "handoff": at(self.desk, for_parts(hand_over, hand_over_or_skip(settling(hand_over)))),
            "verify": at(self.desk, for_parts(verify_change, judge_change)),
            "integrate": at(self.desk, for_parts(integrate_change, integrate_issue)),
            "intake": at(self.desk, ingest_issue),
            "normalize": at(self.desk, normalize),
            "readiness": at(self.desk, check_readiness),
            "challenge": at(self.desk, challenge),
            "weigh": at(self.desk, weigh_opinion),
            "strategy": at(self.desk, select_strategy),
            "plan": at(self.desk, plan_work),
            "parts": at(self.desk, follow_parts),
            "gather": at(self.desk, gather_parts),
            "publish": at(self.desk, publish_change),
            "feedback": at(self.desk, look_after),
            "rebase": at(self.desk, rebase_branch),
        }


def open_case(project: Project, text: str, base: str, *, is_watching: bool) -> Case:
    """The issue that `text` names.

    Raises:
        RuleViolation: it names none, or one that is closed.
        ConfigError: it lies on a place that is not configured, or nobody knows where its pull request goes.
        PortError: it cannot be read.
    """
    home = asyncio.run(project.find_home())
    ref = parse_reference(text, project.places.known(), home.place if home else "")
    issue = asyncio.run(_fetch_issue(project, ref)) if isinstance(ref, IssueRef) else read_own(project, ref)
    if issue.is_pull_request:
        message = f"{issue.ref.short} is a pull request, not an issue"
        raise RuleViolation(message, remedy="name the issue that it is about")
    if issue.state is IssueState.CLOSED and not _concerns(project, issue.ref):
        message = f"issue {issue.ref.short} is closed ({issue.status})"
        raise RuleViolation(message, remedy="open it again, if there is still something to do")
    is_own = isinstance(ref, IssueRef) and not project.places.is_tracker_only(ref.place)
    target = Home(issue.ref.place, issue.ref.scope) if is_own else _require_home(home, text)
    access = asyncio.run(_fetch_access(project, target))
    line = project.connect(target.place)
    header = Secret(f"Basic {base64.b64encode(f'{access.username}:{access.password.reveal()}'.encode()).decode()}")
    desk = Desk(
        ref=issue.ref,
        place=target.place,
        repository=target.repository,
        base=base,
        tracker=_find_tracker(project, ref, issue, line),
        neighbour=line.tracker,
        forge=line.forge,
        remote=GitRemote(project.git, project.root, access.url, header),
        artefacts=open_artefacts(project),
        parts=LedgerParts(project.planning, lambda: project.reading),
        divider=open_divider(project),
        issues=_issue_rules(project),
        trees=GitTrees(project.git, project.layout, project.clock),
        provider=line.place.provider,
        rules=_rules(project, is_watching=is_watching),
        is_own_tracker=is_own,
        calls=line.endpoint.calls,
        places=project.places.known(),
    )
    return Case(issue, desk)


def _find_tracker(project: Project, ref: ItemRef, issue: Issue, line: Connected) -> Tracker:
    if not isinstance(ref, IssueRef):
        return TextTracker(issue)
    return line.tracker if ref.place == line.place.name else project.connect(ref.place).tracker


def _require_home(home: Home | None, text: str) -> Home:
    if home is None:
        message = f"nobody knows where the pull request for {shorten(text)} goes: remote.origin.url is no known forge's"
        raise ConfigError(message, remedy="work in a clone of the repository, and set up [forges.NAME] with its url")
    return home


async def _fetch_issue(project: Project, ref: IssueRef) -> Issue:
    async with project.connect(ref.place) as line:
        return await line.tracker.fetch_issue(ref)


async def _fetch_access(project: Project, home: Home) -> PushAccess:
    async with project.connect(home.place) as line:
        return await line.forge.fetch_push_access(home.repository)


def read_own(project: Project, ref: TaskRef | StandardInput) -> Issue:
    """A task of a plan file, or the text on standard input, as an issue.

    Raises:
        ConfigError: there is none.
        RuleViolation: it is done, and no pull request of its own is looked after.
    """
    now = project.clock.now()
    if isinstance(ref, StandardInput):
        text = clean(decode(sys.stdin.buffer.read(MAX_TEXT)))
        if not text.strip():
            message = "there is no text on standard input"
            raise ConfigError(message, remedy="whilly forge - < issue.md")
        return read_text(text, now)
    from whilly.cli.work.choose_plans import choose_plans  # noqa: PLC0415  (seldom needed)

    (plan,) = choose_plans(project.root, (Path(ref.plan),), is_all=False)
    item = next((item for item in plan.items if item.id == ref.task), None)
    if item is None:
        message = f"there is no task {ref.task!r} in {ref.plan}"
        raise ConfigError(message, remedy=f"it has: {', '.join(item.id for item in plan.items[:20])}")
    issue = read_task(item, plan.id, now)
    if (status := _find_status(project, plan, ref.task)) in _SETTLED and not _known_branch(project, issue.ref):
        message = f"task {ref.task} of {ref.plan} is {status} already"
        raise RuleViolation(message, remedy="to do it all the same, give its text: whilly forge - < task.md")
    return issue


_SETTLED = frozenset({ItemStatus.DONE, ItemStatus.SKIPPED})


def _find_status(project: Project, plan: Plan, task: ItemId) -> ItemStatus:
    """Where a task of a plan file stands; the ledger has the last word."""
    if project.has_ledger and any(row.id == plan.id for row in project.reading.plans()):
        for row in project.reading.items(plan.id, task):
            return row.status
    return plan.statuses.get(task, ItemStatus.PENDING)


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
        proofs=Demand(wanted.proofs),
    )


def _issue_rules(project: Project) -> IssueRules:
    wanted = project.settings.issues
    return IssueRules(Asking(wanted.plan), wanted.second_opinion, Without(wanted.without_opinion))


def open_artefacts(project: Project) -> FileArtefacts:
    """What the stages of the project's runs have left."""
    return FileArtefacts(project.state / "runs")


def prepare_branches(project: Project, case: Case) -> Branches:
    """The issue's own branch, begun at what the base branch is at the forge now.

    A branch of that name that nobody knows is left alone, and so is that of a run that came to nothing: then the work
    begins on another one.
    """
    base = asyncio.run(case.desk.remote.fetch(case.desk.base))
    asyncio.run(require_relation(project, case.desk, base))
    branch = _known_branch(project, case.issue.ref)
    if not branch or _is_over(project, case):
        branch = asyncio.run(_find_free(project, _name_branch(case.issue), branch, base))
    asyncio.run(require_room(case.desk, branch))
    return asyncio.run(choose_target(project.repository, base, branch, branch))


async def _find_free(project: Project, name: str, known: str, base: CommitId) -> str:
    """The first of `name`, `name-2`, … that is not there or holds nothing: Whilly's own nothing that the base lacks."""
    for number in itertools.count(1):
        branch = name if number == 1 else f"{name}-{number}"
        head = await project.repository.find_commit(f"refs/heads/{branch}")
        # A kill may have come between a branch and its first mention: one that holds nothing is lost by nobody.
        if head is None or head == base or (branch == known and await project.repository.is_ancestor(head, base)):
            return branch
    raise AssertionError(name)


def _is_over(project: Project, case: Case) -> bool:
    """Whether earlier work on the issue has failed or was cancelled, and no pull request of it is open."""
    plan = plan_of(case.issue.ref)
    row, parts = find_whole(project, plan), [each for each in project.reading.items(plan) if each.item.parent]
    has_done = any(each.status is ItemStatus.DONE for each in parts)
    # What was reset is begun anew, too: its branch holds what the parts are to do again.
    is_reset = row.status is ItemStatus.PENDING and bool(parts) and not has_done
    if row.run is None or not (row.status in {ItemStatus.FAILED, ItemStatus.SKIPPED} or is_reset):
        return False
    known = asyncio.run(open_artefacts(project).load(row.run.id, PULL_REQUEST))
    if known is None:
        # The work of parts is not thrown away because of what came after them.
        return not has_done
    ref = PullRef(case.desk.place, str(known["repository"]), int(str(known["number"])))
    return not asyncio.run(_is_open(project, case.desk, ref))


async def _is_open(project: Project, desk: Desk, ref: PullRef) -> bool:
    async with project.connect(desk.place) as line:
        return (await line.forge.fetch_pull_request(ref)).pull.state is PullState.OPEN


def _name_branch(issue: Issue) -> str:
    try:
        return name_branch(issue.ref.number, issue.title)
    except RuleViolation:
        # A task of a plan file may be called anything.
        return f"whilly/task-{slugify(f'{issue.ref.number} {issue.title}', 38)}"


def _concerns(project: Project, ref: IssueRef) -> bool:
    """Whether it concerns a run that its issue was closed: it waits for an answer, or has opened a pull request."""
    run = find_whole(project, plan_of(ref)).run if _known_branch(project, ref) else None
    if run is None:
        return False
    is_asking = run.stage in _ASKING and not run.is_ended
    return is_asking or asyncio.run(open_artefacts(project).load(run.id, PULL_REQUEST)) is not None


def _known_branch(project: Project, ref: IssueRef) -> str:
    """The branch that earlier work on the issue went to, whatever its title is now; empty when there was none."""
    plan = plan_of(ref)
    rows = [row for row in project.reading.plans() if row.id == plan] if project.has_ledger else []
    return rows[0].state.target if rows else ""


def find_whole(project: Project, plan: PlanId) -> ItemRow:
    """Where the issue itself stands, whatever it was taken apart into."""
    return next(row for row in project.reading.items(plan) if row.item.parent is None)


def find_parts(project: Project, plan: PlanId, branch: str) -> tuple[WorkItem, ...]:
    """What the issue was taken apart into, as far as that is done on this branch."""
    rows = [row for row in project.reading.plans() if row.id == plan] if project.has_ledger else []
    if not rows or rows[0].state.target != branch:
        return ()
    return tuple(row.item for row in project.reading.items(plan) if row.item.parent)


def revive(project: Project, plan: Plan) -> None:
    """Who waits for people, or has failed, is looked at again: that is what the command was given for."""
    if not project.has_ledger or all(row.id != plan.id for row in project.reading.plans()):
        return
    rows = project.reading.items(plan.id)
    is_cancelled = any(row.status is ItemStatus.SKIPPED and row.item.parent is None for row in rows)
    for row in rows:
        # A part that a person has cancelled stays so, unless all of it was.
        is_left_out = row.status is ItemStatus.SKIPPED and row.item.parent is not None and not is_cancelled
        if row.status not in {ItemStatus.PENDING, ItemStatus.IN_PROGRESS, ItemStatus.DONE} and not is_left_out:
            project.planning().retry(plan.id, row.item.id, "whilly forge")


def conclude(project: Project, progress: Progress, code: ExitCode) -> tuple[Progress, ExitCode]:
    """The pull request that came of it; one that waits for nothing but people is what was asked for."""
    row = find_whole(project, progress.plan)
    document = asyncio.run(open_artefacts(project).load(row.run.id, PULL_REQUEST)) if row.run else None
    progress = replace(progress, pull_request=str(document["url"]) if document else "")
    wait = row.run.wait if row.run else None
    parts = [each.status for each in project.reading.items(progress.plan) if each.item.parent]
    is_open = wait is not None and wait.whom == REVIEWERS and set(parts) <= {ItemStatus.DONE, ItemStatus.SKIPPED}
    return progress, ExitCode.DONE if is_open and code is ExitCode.FAILED else code
