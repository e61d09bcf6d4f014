"""What a change shows of itself: its lines, its tests on the base, and the base's tests on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whilly.application.attempt_context import AttemptContext
from whilly.application.verify_change import commands_for, run_commands
from whilly.domain.attempt import Evidence
from whilly.domain.change import Extent
from whilly.domain.delivery.proof import list_failing, list_new_tests, list_old_tests, pick_tests, see_extents
from whilly.domain.flow.brief import Brief, Halt
from whilly.domain.ids import CommitId
from whilly.domain.intake.strategy import Proof, Seen, is_document
from whilly.ports.delivery.trees import Trees

if TYPE_CHECKING:
    from whilly.domain.change import CheckCommand
    from whilly.domain.intake.strategy import Approach


@dataclass(frozen=True, slots=True)
class Change:
    """The whole change of an issue, to be looked at.

    Attributes:
        told: the attempt, with the issue as its task.
        base: the commit of the base branch that the change is against.
        place: what people call that.
    """

    told: Brief
    context: AttemptContext
    trees: Trees
    base: CommitId
    head: CommitId
    extents: Sequence[Extent]
    place: str = "base"

    @property
    def tests(self) -> tuple[CheckCommand, ...]:
        """The commands that run tests, with their set-up."""
        profile = self.context.rules.profile
        return pick_tests(commands_for(self.told, replace(profile, repair_verify=())))

    async def try_tests(self, commit: CommitId, source: CommitId, paths: tuple[str, ...]) -> Evidence | Halt | None:
        """How the tests fail on `commit` with these paths of `source`; None when they pass."""
        overlay = await self.trees.overlay(commit, source, paths)
        report = await run_commands(self.told, self.context, overlay, self.tests)
        return report if isinstance(report, Halt) else report.failure


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a change whose checks pass.

    Attributes:
        failure: how the base's tests failed on it, if they did.
    """

    seen: Seen
    failure: Evidence | None = None


async def prove_change(change: Change, approach: Approach) -> Sight | Halt:
    """What can be seen of the proofs that the approach demands; nothing else is run."""
    sight: Sight | Halt = Sight(see_extents(change.extents, change.tests))
    if Proof.FAILS_BEFORE in approach.proofs and isinstance(sight, Sight):
        sight = await _look_before(change, sight)
    if Proof.OLD_TESTS_PASS in approach.proofs and isinstance(sight, Sight):
        sight = await _look_at_old_tests(change, sight)
    return sight


async def _look_before(change: Change, sight: Sight) -> Sight | Halt:
    """The change's tests on the base: one has to fail there."""
    tests = list_new_tests(change.extents)
    if not change.tests or all(is_document(each) for each in tests):
        return sight if change.tests else _explain(sight, Proof.FAILS_BEFORE, NO_COMMAND)
    failure = await change.try_tests(change.base, change.head, tests)
    if isinstance(failure, Halt):
        return failure
    failing = list_failing(failure, change.tests) if failure else ()
    if failing:
        return replace(sight, seen=replace(sight.seen, fails_before=failing))
    passes = f"the tests of the change pass on {change.place} as well"
    why = f"the tests could not be run on {change.place}: {failure.summary}" if failure else passes
    return _explain(sight, Proof.FAILS_BEFORE, why)


async def _look_at_old_tests(change: Change, sight: Sight) -> Sight | Halt:
    """The base's tests on the change, run as they are on the base: all of them have to pass there."""
    tests = (*list_old_tests(change.extents), *sight.seen.runners_changed)
    if not change.tests:
        return _explain(sight, Proof.OLD_TESTS_PASS, NO_COMMAND)
    if not tests:
        # The ordinary checks were just that.
        return replace(sight, seen=replace(sight.seen, old_tests_pass=True))
    failure = await change.try_tests(change.head, change.base, tests)
    if isinstance(failure, Halt):
        return failure
    if failure is None:
        return replace(sight, seen=replace(sight.seen, old_tests_pass=True))
    why = f"with {', '.join(tests[:5])} as {change.place} has it, {failure.summary}"
    made = replace(_explain(sight, Proof.OLD_TESTS_PASS, why), failure=failure)
    has_failed = bool(list_failing(failure, change.tests))
    return replace(made, seen=replace(made.seen, old_tests_pass=False)) if has_failed else made


NO_COMMAND = "no command runs tests here (profile.verify)"


def _explain(sight: Sight, proof: Proof, why: str) -> Sight:
    return replace(sight, seen=replace(sight.seen, reasons={**sight.seen.reasons, proof: why}))
