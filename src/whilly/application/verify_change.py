"""The verify stage: what a run has made, checked by Whilly on a clean checkout of that very commit."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from whilly.application.follow_session import SLICE_SECONDS
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.change import CheckCommand, CheckReport
from whilly.domain.claims import outside
from whilly.domain.errors import PortError
from whilly.domain.flow.brief import Halt
from whilly.domain.trust.policy import Consequence, render_objections

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Brief, Profile
    from whilly.domain.ids import CommitId
    from whilly.domain.trust.policy import Objection


REPAIRS = ("repair", "mend")
"""Stages in which an agent mends what a check has found."""


async def verify_change(brief: Brief, context: AttemptContext) -> AttemptResult:
    """Completed when the change stays within its paths and every command passes."""
    commit = brief.run.head
    if commit is None:
        return AttemptResult(Outcome.REJECTED, "there is no commit to verify", evidence=Evidence("no commit"))
    failure = await find_refusal(brief, context, commit) or await check_commit(brief, context, commit)
    if isinstance(failure, Halt):
        return halted(failure)
    if failure is not None:
        return AttemptResult(Outcome.REJECTED, failure.summary, commit=commit, evidence=failure)
    return AttemptResult(Outcome.COMPLETED, commit=commit)


def commands_for(brief: Brief, profile: Profile) -> tuple[CheckCommand, ...]:
    """What must pass: the profile's commands, then the item's own steps; nothing at all means nothing to set up."""
    steps = tuple(CheckCommand(run=step, kind="test_step") for step in brief.item.test_steps)
    is_repaired = any(brief.run.rounds.get(stage) for stage in REPAIRS)
    first = profile.repair_verify if is_repaired else ()
    checks = (*first, *profile.verify, *steps)
    return (*profile.setup, *checks) if checks else ()


def halted(halt: Halt) -> AttemptResult:
    """The result of a built-in action that the engine ended."""
    return AttemptResult(halt.outcome, halt.reason, is_deliberate=True)


async def check_commit(brief: Brief, context: AttemptContext, commit: CommitId) -> Evidence | Halt | None:
    """Run the commands on a clean checkout of `commit`; why they failed or were ended, None when they passed."""
    report = await run_commands(brief, context, commit, commands_for(brief, context.rules.profile))
    return report.failure if isinstance(report, CheckReport) else report


async def run_commands(
    brief: Brief, context: AttemptContext, commit: CommitId, commands: tuple[CheckCommand, ...]
) -> CheckReport | Halt:
    """What these commands say on a clean checkout of `commit`, or why they were ended."""
    if not commands:
        return CheckReport(())
    if halt := context.line.halt():
        return halt
    name = f"{brief.run.id}-{brief.run.attempt}"
    context.ports.checkpoint("check:before")
    place = await context.ports.repository.checkout(commit, name)
    try:
        return await _run_checks(brief, context, place, commands)
    finally:
        with suppress(PortError):
            # What cannot be cleaned up now is later, at the end of a run or by the doctor; the verdict stands.
            await context.ports.repository.discard(name)
        context.ports.checkpoint("check:after")


async def _run_checks(
    brief: Brief, context: AttemptContext, place: str, commands: tuple[CheckCommand, ...]
) -> CheckReport | Halt:
    """Run the commands for as long as the engine lets them."""
    checks = asyncio.ensure_future(context.ports.checks.run(brief.attempt, place, commands))
    try:
        while not checks.done():
            await asyncio.wait({checks}, timeout=SLICE_SECONDS)
            if not checks.done() and (halt := context.line.halt()):
                return halt
        return checks.result()
    finally:
        checks.cancel()
        await asyncio.wait({checks})


async def find_objections(
    brief: Brief, context: AttemptContext, commit: CommitId, consequence: Consequence
) -> tuple[Objection, ...]:
    """What the policy has against the run's change, of one consequence."""
    if context.ports.policy is None:
        return ()
    found = await context.ports.policy.objections(brief.base, commit)
    return tuple(objection for objection in found if objection.consequence is consequence)


async def find_refusal(brief: Brief, context: AttemptContext, commit: CommitId) -> Evidence | None:
    """Why the change must not touch what it touches; None when it may."""
    return await _refused(brief, context, commit) or await _strayed(brief, context, commit)


async def _refused(brief: Brief, context: AttemptContext, commit: CommitId) -> Evidence | None:
    found = await find_objections(brief, context, commit, Consequence.REFUSED)
    if not found:
        return None
    summary = f"the change holds what is refused: {render_objections(found)}"
    names = sorted(f"{objection.rule}:{objection.path}" for objection in found)
    paths = tuple(sorted({objection.path for objection in found}))
    return Evidence(summary, fingerprint=f"refused:{names}", paths=paths)


async def _strayed(brief: Brief, context: AttemptContext, commit: CommitId) -> Evidence | None:
    profile = context.rules.profile
    if not profile.allowed_paths and not profile.forbidden_paths:
        return None
    paths = await context.ports.repository.changed_paths(brief.base, commit)
    stray = set(outside(paths, profile.allowed_paths) if profile.allowed_paths else ())
    if profile.forbidden_paths:
        stray |= set(paths) - set(outside(paths, profile.forbidden_paths))
    if not stray:
        return None
    listed = ", ".join(sorted(stray)[:10])
    summary = f"changed paths that the repository's profile does not allow: {listed}"
    return Evidence(summary, fingerprint=f"stray:{sorted(stray)}", paths=tuple(sorted(stray)))
