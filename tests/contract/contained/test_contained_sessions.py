"""Contained agents under the supervisor: what works below them is told from what they do themselves."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.confinement import Confinement
from whilly.domain.ids import AttemptId
from whilly.domain.session import Launch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox

ATTEMPT = AttemptId("run-1/1")
SPIN = "while True: pass"
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-S', '-c', {SPIN!r}])"


async def until(is_so: Callable[[], object]) -> None:
    """Look until it is so; another process's doing has no event to wait for."""
    while not is_so():  # noqa: ASYNC110  (as said)
        await asyncio.sleep(0.02)


class Rig:
    """One contained session."""

    def __init__(self, folder: Path, sandbox: BubblewrapSandbox) -> None:
        self.sessions = ProcessSessions(str(folder / "state"))
        self.home = folder / "home"
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.sandbox = sandbox

    async def start(self, text: str) -> None:
        argv = (sys.executable, "-I", "-S", "-c", f"print('begun', flush=True)\n{text}")
        launch = Launch(argv, cwd=str(self.tree), env={"PATH": os.defpath})
        held = self.sandbox.contain(launch, Confinement(home=str(self.home), writable=(str(self.tree),)))
        await self.sessions.start(ATTEMPT, str(self.home), held)
        await until((self.home / "events.jsonl").read_bytes)

    def agent(self) -> psutil.Process:
        return psutil.Process(int((self.home / "held.pid").read_text()))

    async def let_spin(self, process: psutil.Process) -> None:
        """Until the process has used a second more of a processor."""
        wanted = process.cpu_times().user + 1
        await until(lambda: process.cpu_times().user >= wanted)


@pytest.fixture
async def rig(tmp_path: Path, sandbox: BubblewrapSandbox) -> AsyncIterator[Rig]:
    made = Rig(tmp_path, sandbox)
    yield made
    await made.sessions.stop(str(made.home), at_once=True)


async def test_the_agent_s_own_spinning_is_no_work_below_it(rig: Rig) -> None:
    await rig.start(SPIN)
    before = await rig.sessions.effort(str(rig.home))
    await rig.let_spin(rig.agent())
    after = await rig.sessions.effort(str(rig.home))
    assert after.cpu_s - before.cpu_s < 0.5
    assert not after.has_command


async def test_what_it_started_is_at_work(rig: Rig) -> None:
    await rig.start(CHILD)
    await until(rig.agent().children)
    (child,) = rig.agent().children()
    before = await rig.sessions.effort(str(rig.home))
    await rig.let_spin(child)
    after = await rig.sessions.effort(str(rig.home))
    assert after.cpu_s - before.cpu_s >= 0.5
    assert after.has_command


async def test_a_session_that_is_stopped_leaves_nothing(rig: Rig) -> None:
    await rig.start(CHILD)
    agent = rig.agent()
    exit_ = await rig.sessions.stop(str(rig.home))
    assert (exit_.cause, agent.is_running()) == ("stopped", False)
    assert await rig.sessions.sweep([]) == []
