"""The exit code tells the truth about all items."""

from __future__ import annotations

import pytest

from whilly.cli.exit_codes import ExitCode, run_exit_code
from whilly.domain.flow.plan_run import StopReason
from whilly.domain.work_item import ItemStatus

DONE = ItemStatus.DONE


def test_only_a_plan_of_done_items_is_done() -> None:
    assert int(run_exit_code([DONE, DONE], None)) == 0 == int(ExitCode.DONE)


@pytest.mark.parametrize("status", [status for status in ItemStatus if status is not DONE])
def test_a_single_item_that_is_not_done_is_a_failure(status: ItemStatus) -> None:
    assert int(run_exit_code([DONE, status, DONE], None)) == 1 == int(ExitCode.FAILED)


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (StopReason.BUDGET, 2),
        (StopReason.TIMEOUT, 3),
        (StopReason.AUTH, 4),
        (StopReason.INTERRUPTED, 130),
        (StopReason.ITERATIONS, 1),
    ],
)
def test_a_plan_that_stopped_says_why(stop: StopReason, code: int) -> None:
    assert run_exit_code([DONE, ItemStatus.PENDING], stop) == code


@pytest.mark.parametrize("stop", list(StopReason))
def test_a_stop_that_came_when_everything_was_done_does_not_matter(stop: StopReason) -> None:
    assert run_exit_code([DONE], stop) == ExitCode.DONE
