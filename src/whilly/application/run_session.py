"""An agent's attempt: workspace, prompt, session, and what it left."""

from __future__ import annotations

import uuid
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from whilly.application.compose_prompt import compose_prompt
from whilly.application.follow_session import follow_session
from whilly.domain.attempt import AttemptResult, Evidence, Outcome, Usage
from whilly.domain.claims import outside
from whilly.domain.errors import ConfigError, PortError, Unavailable
from whilly.domain.flow.budget import Booked
from whilly.domain.ids import SessionId
from whilly.domain.session import Prior, SessionReport, SessionRequest, claims_completion
from whilly.ports.sessions import SessionState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.change import Saved
    from whilly.domain.flow.brief import Brief
    from whilly.domain.ids import CommitId
    from whilly.ports.agent import Agent

UNSPENT = Usage(cost_usd=Decimal(0))
_SESSIONS = uuid.UUID("5a7f0f4e-6b1c-5d53-9d2e-8f5e7c1a9b10")


class Setting(NamedTuple):
    """Where a session is held, and what is made of what it left.

    Attributes:
        enter: the path of the checkout to work in.
        conclude: the result of the attempt.
    """

    enter: Callable[[Brief, AttemptContext], Awaitable[str]]
    conclude: Callable[[Brief, AttemptContext, SessionReport], Awaitable[AttemptResult]]


async def run_session(brief: Brief, context: AttemptContext) -> AttemptResult:
    """Let an agent make a change in the run's workspace."""
    return await hold_session(brief, context, Setting(open_workspace, conclude))


async def hold_session(brief: Brief, context: AttemptContext, setting: Setting) -> AttemptResult:
    """Start the attempt's session, or find it as an earlier life of the engine left it, and see it to its end."""
    agent = context.ports.agents[brief.agent]
    sessions = context.ports.sessions
    if await sessions.find(brief.home) is SessionState.ABSENT:
        if halt := context.line.halt():
            return AttemptResult(halt.outcome, halt.reason, usage=UNSPENT, is_deliberate=True)
        failed = await _start(brief, context, agent, setting)
        if failed:
            return failed
    try:
        report, halt = await follow_session(brief.home, agent.reader(_prior(brief, agent)), context)
    except Exception:
        # This attempt is over, so its agent must not work beside that of the next one.
        await sessions.stop(brief.home, at_once=True)
        raise
    result = await setting.conclude(brief, context, _with_session(report, brief, agent))
    if halt:
        result = replace(result, outcome=halt.outcome, reason=halt.reason, is_deliberate=True)
    return result


async def conclude(brief: Brief, context: AttemptContext, report: SessionReport) -> AttemptResult:
    """Make safe what the session left, and judge it."""
    context.ports.checkpoint("save:before")
    try:
        saved = await context.ports.workspace.save(brief.run.id, brief.attempt, brief.base)
        context.ports.checkpoint("save:after")
        result = _judge(brief, report, saved)
        if result.outcome is Outcome.COMPLETED and brief.stage.prompt == "repair" and brief.run.rejected is not None:
            return await _look_for_a_repair(brief, context, brief.run.rejected, result)
    except PortError as error:
        outcome = Outcome.UNAVAILABLE if isinstance(error, Unavailable) else Outcome.CRASHED
        reason = f"what it did could not be saved: {error}"
        return AttemptResult(outcome, reason, usage=report.usage, session=report.session)
    return result


async def _start(brief: Brief, context: AttemptContext, agent: Agent, setting: Setting) -> AttemptResult | None:
    """Make the workspace ready and start the process; an attempt's result only when that cannot be done."""
    ports = context.ports
    try:
        workspace = await setting.enter(brief, context)
        request = SessionRequest(
            attempt=brief.attempt,
            prompt=compose_prompt(brief, context.render),
            workspace=workspace,
            home=brief.home,
            session=_new_session(brief),
            resume=_resumed(brief, agent),
            model=brief.model,
            max_cost_usd=brief.max_cost_usd,
            max_turns=context.rules.limits.max_turns,
        )
        launch = agent.launch(request)
        limits = context.rules.limits
        launch = replace(
            launch,
            time_limit=launch.time_limit or limits.attempt,
            grace=launch.grace or limits.grace,
            output_limit=limits.output,
        )
        ports.checkpoint("start:before")
        await ports.sessions.start(brief.attempt, brief.home, launch)
        ports.checkpoint("start:after")
    except (PortError, ConfigError) as error:
        # A process that is on its way nevertheless must not work beside that of the next attempt.
        await ports.sessions.stop(brief.home, at_once=True)
        return explain_failure(error)
    return None


async def open_workspace(brief: Brief, context: AttemptContext) -> str:
    """The path of the run's workspace, ready for this attempt.

    Raises:
        PortError: it cannot be had.
    """
    if not brief.base:
        message = f"branch {brief.target} has no commit that could be found to start from"
        raise Unavailable(message)
    context.ports.checkpoint("open:before")
    workspace = await context.ports.workspace.open(brief.run.id, brief.branch, brief.base)
    if brief.stage.renews:
        await context.ports.workspace.bring_in(brief.run.id, brief.base)
    context.ports.checkpoint("open:after")
    return workspace


def explain_failure(error: PortError | ConfigError) -> AttemptResult:
    """The result of an attempt that could not begin."""
    outcome = Outcome.UNAVAILABLE if isinstance(error, Unavailable) else Outcome.CRASHED
    return AttemptResult(outcome, str(error), usage=UNSPENT)


def _resumed(brief: Brief, agent: Agent) -> SessionId | None:
    """The session that this attempt goes on with."""
    return brief.run.session if brief.stage.resumes and agent.facts().can_resume else None


def _prior(brief: Brief, agent: Agent) -> Prior:
    session = _resumed(brief, agent)
    booked = brief.booked if session else Booked()
    return Prior(brief.model, session, booked.usage, brief.began_at, booked.deposit)


def _new_session(brief: Brief) -> SessionId:
    """The id that a new session is asked to take: the same whenever this attempt is looked at."""
    return SessionId(str(uuid.uuid5(_SESSIONS, brief.attempt)))


def _with_session(report: SessionReport, brief: Brief, agent: Agent) -> SessionReport:
    """An agent that ends in order without naming its session took the id that it was given."""
    if report.session is not None or report.outcome is not Outcome.COMPLETED or not agent.facts().can_resume:
        return report
    return replace(report, session=brief.run.session or _new_session(brief))


async def _look_for_a_repair(
    brief: Brief, context: AttemptContext, before: CommitId, result: AttemptResult
) -> AttemptResult:
    """A repair that changed nothing, in any of its attempts, leaves the same failure; no check has to say so."""
    if result.commit is None or await context.ports.repository.changed_paths(before, result.commit):
        return result
    failure = f"{brief.run.evidence.summary}; " if brief.run.evidence else ""
    reason = f"{failure}the agent claims that it is mended, but changed nothing"
    return replace(result, outcome=Outcome.REJECTED, reason=reason, evidence=brief.run.evidence)


def _judge(brief: Brief, report: SessionReport, saved: Saved) -> AttemptResult:
    """A session's claim is worth what it left: the marker, a change, and no conflict forgotten."""
    result = AttemptResult(
        outcome=report.outcome,
        reason=report.reason,
        usage=report.usage,
        session=report.session,
        commit=saved.commit,
        retry_at=report.retry_at,
        outside_claims=outside(saved.paths, brief.item.key_files) if brief.item.key_files else (),
    )
    if report.outcome is not Outcome.COMPLETED:
        return result
    if saved.unresolved:
        reason = f"conflict markers are left in {', '.join(saved.unresolved)}"
        evidence = Evidence(reason, paths=saved.unresolved)
        return replace(result, outcome=Outcome.CONFLICT, reason=reason, evidence=evidence)
    doubt = _doubt(report, saved)
    return replace(result, outcome=Outcome.NO_PROGRESS, reason=doubt) if doubt else result


def _doubt(report: SessionReport, saved: Saved) -> str:
    """Why a session that ended in order has not done its work; empty when it seems to have."""
    if not claims_completion(report.final_message):
        last = report.final_message.strip().splitlines()[-1:] or ["nothing"]
        return f"it ended without claiming completion; its last words: {last[0][:200]}"
    doubts = {
        "it left the history that it was given, and its work does not fit on top of it": saved.is_astray,
        f"it left work in submodules, which has to be pushed there first: {', '.join(saved.stranded)}": saved.stranded,
        f"it left files that cannot be read: {', '.join(saved.left_out)}": saved.left_out,
        "it claims completion, but changed nothing": not saved.paths,
    }
    return next((doubt for doubt, is_so in doubts.items() if is_so), "")
