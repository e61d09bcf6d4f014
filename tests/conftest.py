"""Rules that every test is held to: nothing it started, set or attached is left behind."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterator
    from pathlib import Path

# The tests' own settings come from outside; the product's settings never do.
REQUIRE_ALL = bool(os.environ.get("WHILLY_REQUIRE_ALL"))  # noqa: TID251  (a switch of the test run, not of Whilly)
GRACE = 2.0
"""Seconds in which what was told to end may end."""


def pytest_configure() -> None:
    """Ctrl-C reaches what tests start, also where the test run itself was begun in the background, deaf to it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: most tests wait for what they have started."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything is said to be installed, a skip is a failure."""
    report = yield
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped although WHILLY_REQUIRE_ALL is set: {find_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for modules that skip themselves as a whole."""
    report = yield
    if REQUIRE_ALL and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped although WHILLY_REQUIRE_ALL is set: {find_reason(report)}"
    return report


def find_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves tasks, child processes, log handlers or a changed environment behind."""
    if inspect.iscoroutinefunction(getattr(request.node, "function", None)):
        request.getfixturevalue("no_task_is_left_behind")
    environment, handlers, children = read_environment(), find_handlers(), find_children()
    yield
    faults = []
    if (now := read_environment()) != environment:
        names = {name for name, _ in now.items() ^ environment.items()}
        faults.append(f"changed environment variables: {sorted(names)}")
    if added := find_handlers() - handlers:
        faults.append(f"log handlers: {sorted(added)}")
    if left := wait_for_end(children):
        faults.append(f"child processes: {left}")
    assert not faults, f"left behind: {'; '.join(faults)}"


@pytest.fixture
async def no_task_is_left_behind() -> AsyncIterator[None]:
    """Set up before the test's own fixtures, so it looks after they are torn down."""
    before = asyncio.all_tasks()
    yield
    await asyncio.sleep(0)
    mine = asyncio.current_task()
    left = sorted(str(task.get_coro()) for task in asyncio.all_tasks() - before if task is not mine)
    assert not left, f"left behind: tasks {left}"


@pytest.fixture(autouse=True, scope="session")
def no_process_outlives_the_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail the run when a process still works in its temporary folder: detached agents are nobody's children."""
    yield
    base = tmp_path_factory.getbasetemp()
    deadline = time.monotonic() + GRACE
    while (left := find_processes_in(base)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left, f"left behind: processes {left}"


def read_environment() -> dict[str, str]:
    found = dict(os.environ)  # noqa: TID251  (compared, not read)
    found.pop("PYTEST_CURRENT_TEST", None)
    return found


def find_handlers() -> set[str]:
    """Handlers of all loggers but pytest's own and those of the engine's library, which attaches its one for good."""
    loggers: list[logging.Logger] = [logging.getLogger()]
    known = list(logging.Logger.manager.loggerDict.items())
    loggers += [logger for name, logger in known if isinstance(logger, logging.Logger) and name != "dbos"]
    handlers = [(logger.name, handler) for logger in loggers for handler in logger.handlers]
    return {f"{name}: {handler!r}" for name, handler in handlers if not type(handler).__module__.startswith("_pytest.")}


def find_children() -> set[int]:
    """Process ids of our children. Without any, which is the usual case, this is one system call."""
    try:
        if hasattr(os, "waitid"):
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()
    return {child.pid for child in psutil.Process().children()}


def wait_for_end(before: set[int]) -> list[str]:
    deadline = time.monotonic() + GRACE
    while (left := find_children() - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [describe_process(pid) for pid in sorted(left)]


def describe_process(pid: int) -> str:
    try:
        return f"{pid} {' '.join(psutil.Process(pid).cmdline())[:200]}"
    except psutil.Error:
        return str(pid)


def find_processes_in(base: Path) -> list[str]:
    """Processes, not ourselves, that have the folder as their directory or in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            command = " ".join(process.cmdline())
            is_inside = str(base) in command or process.cwd().startswith(str(base))
        except (psutil.Error, OSError):
            continue
        if is_inside and process.pid != os.getpid():
            found.append(f"{process.pid} {command[:200]}")
    return found
