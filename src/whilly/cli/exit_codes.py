"""What the exit codes of all commands mean."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from whilly.domain.flow.plan_run import StopReason
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode(IntEnum):
    """Says the truth about everything that a command was asked to do; the first that applies, from below."""

    DONE = 0
    FAILED = 1
    BUDGET = 2
    TIMEOUT = 3
    INVALID = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141

    @property
    def meaning(self) -> str:
        """For people, as in the reference."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.DONE: "Everything that was asked for is done.",
    ExitCode.FAILED: (
        "Something failed, is blocked or was skipped; a check found something (`whilly doctor`, "
        "`whilly plan challenge`); or Whilly itself failed."
    ),
    ExitCode.BUDGET: "The budget is spent.",
    ExitCode.TIMEOUT: "The time limit of the run was reached.",
    ExitCode.INVALID: (
        "The command line, the plan, the configuration or the environment is wrong, so nothing was started; or the "
        "environment gave way in the middle of a run (a full disk, a ledger that cannot be written, a login that "
        "ended): what was done stays, and the next run goes on."
    ),
    ExitCode.INTERRUPTED: "Ended by Ctrl-C or SIGTERM.",
    ExitCode.BROKEN_PIPE: "The reader of the output went away (`whilly status | head -1`).",
}


_STOPS = {
    StopReason.BUDGET: ExitCode.BUDGET,
    StopReason.TIMEOUT: ExitCode.TIMEOUT,
    StopReason.INTERRUPTED: ExitCode.INTERRUPTED,
    StopReason.AUTH: ExitCode.INVALID,
    StopReason.ITERATIONS: ExitCode.FAILED,
}


def run_exit_code(statuses: Iterable[ItemStatus], stop: StopReason | None) -> ExitCode:
    """The one exit code of a run: done only if every item is, otherwise why it stopped, otherwise that it failed."""
    if all(status is ItemStatus.DONE for status in statuses):
        return ExitCode.DONE
    return _STOPS[stop] if stop else ExitCode.FAILED
