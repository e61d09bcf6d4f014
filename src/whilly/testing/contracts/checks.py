"""The contract of the Checks port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.change import CheckCommand
from whilly.domain.ids import AttemptId
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.checks import Checks

_ATTEMPT = AttemptId("run-1/2")


class ChecksContract(ContractSuite):
    """Override the fixtures `checks` and `checkout`: a path that holds one file, `a`, with the line `one`."""

    async def test_commands_that_pass_are_listed_in_order(self, checks: Checks, checkout: str) -> None:
        commands = [CheckCommand("true"), CheckCommand("test -f a"), CheckCommand("grep -q one a")]
        report = await checks.run(_ATTEMPT, checkout, commands)
        assert report.passed == ("true", "test -f a", "grep -q one a")
        assert report.failure is None

    async def test_no_commands_pass(self, checks: Checks, checkout: str) -> None:
        report = await checks.run(_ATTEMPT, checkout, [])
        assert (report.passed, report.failure) == ((), None)

    async def test_the_first_failure_ends_them(self, checks: Checks, checkout: str) -> None:
        commands = [CheckCommand("true"), CheckCommand("echo broken && exit 3"), CheckCommand("true")]
        report = await checks.run(_ATTEMPT, checkout, commands)
        assert report.passed == ("true",)
        assert report.failure is not None
        assert (report.failure.command, report.failure.exit_code) == ("echo broken && exit 3", 3)
        assert "broken" in report.failure.output
        assert report.failure.fingerprint

    async def test_an_accepted_exit_code_passes_and_others_do_not(self, checks: Checks, checkout: str) -> None:
        assert (await checks.run(_ATTEMPT, checkout, [CheckCommand("exit 5", accept=(0, 5))])).failure is None
        assert (await checks.run(_ATTEMPT, checkout, [CheckCommand("exit 0", accept=(5,))])).failure is not None

    async def test_a_command_that_does_not_exist_says_so(self, checks: Checks, checkout: str) -> None:
        report = await checks.run(_ATTEMPT, checkout, [CheckCommand("no-such-command-at-all -q")])
        assert report.failure is not None
        assert report.failure.exit_code == 127
        assert "not found" in report.failure.summary

    async def test_the_same_failure_has_the_same_fingerprint(self, checks: Checks, checkout: str) -> None:
        found = []
        for text in ("one thing", "one thing", "another"):
            report = await checks.run(_ATTEMPT, checkout, [CheckCommand(f"echo {text} && exit 1")])
            assert report.failure is not None
            found.append(report.failure.fingerprint)
        assert found[0] == found[1] != found[2]
