"""Following real sessions: which of them hang, which only seem to, and what hostile output does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from typing_extensions import override

from whilly.adapters.command.descriptor import AgentDescriptor
from whilly.adapters.command.jsonl import JsonlSessionReader
from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.process.sessions import ProcessSessions
from whilly.application.attempt_context import AttemptContext, Line, Rules
from whilly.application.follow_session import follow_session
from whilly.domain.attempt import Outcome
from whilly.domain.flow.brief import Halt, SessionLimits
from whilly.domain.ids import AttemptId
from whilly.domain.session import COMPLETION_MARKER, Effort, Launch, SessionReport
from whilly.ports.sessions import SessionState
from whilly.testing.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from whilly.domain.ids import CommitId
    from whilly.domain.session import Activity

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no supervised sessions on Windows")

ENV = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"}
LIMITS = SessionLimits(
    first_output=timedelta(seconds=120), silence=timedelta(seconds=900), grace=timedelta(seconds=0.3)
)
FORTY_MINUTES = timedelta(minutes=40)
LONG_S = 30.0
RESULT = json.dumps({"type": "result", "message": COMPLETION_MARKER})


@dataclass
class Recorder(Line):
    """Counts how often the session was looked at, and keeps what it did."""

    looks: int = 0
    texts: list[str] = field(default_factory=list)
    is_stopping: bool = False

    @override
    def halt(self) -> Halt | None:
        self.looks += 1
        return Halt(Outcome.INTERRUPTED, "enough") if self.is_stopping else None

    @override
    def report(self, activity: Activity) -> None:
        self.texts.append(activity.text)

    @override
    async def keep_candidate(self, commit: CommitId) -> bool:
        return bool(commit)


@dataclass
class Rig:
    folder: Path
    sessions: ProcessSessions
    clock: ManualClock = field(default_factory=ManualClock)
    line: Recorder = field(default_factory=Recorder)
    limits: SessionLimits = LIMITS
    tasks: list[asyncio.Task[SessionReport]] = field(default_factory=list)

    @property
    def home(self) -> str:
        return str(self.folder / "home")

    async def start(self, *argv: str, output_limit: int = 0) -> asyncio.Task[SessionReport]:
        launch = Launch(argv, str(self.folder), ENV, grace=self.limits.grace, output_limit=output_limit)
        await self.sessions.start(AttemptId("run/1"), self.home, launch)
        task = asyncio.create_task(self.follow())
        self.tasks.append(task)
        await self.until(lambda: self.line.looks or task.done())
        return task

    async def follow(self) -> SessionReport:
        ports = replace(World("sqlite://").ports(), sessions=self.sessions, clock=self.clock)
        context = AttemptContext(ports, Rules(limits=self.limits), self.line, lambda _name, _values: "")
        reader = JsonlSessionReader(AgentDescriptor(name="tool", argv=("tool",), output="jsonl"))
        return (await follow_session(self.home, reader, context))[0]

    async def until(self, is_so: Callable[[], object]) -> None:
        deadline = time.monotonic() + LONG_S
        while not is_so():
            assert time.monotonic() < deadline, "it never happened"
            await asyncio.sleep(0.01)

    async def pass_time(self, time_: timedelta, task: asyncio.Task[SessionReport]) -> None:
        """Let it pass in eighths of the time that silence may last, each of them seen by whoever follows."""
        while time_:
            step = min(time_, timedelta(seconds=900 / 8))
            time_ -= step
            self.clock.advance(step)
            seen = self.line.looks
            await self.until(lambda seen=seen: self.line.looks >= seen + 2 or task.done())  # type: ignore[misc]  # a default
            if task.done():
                return


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    rig = Rig(tmp_path, ProcessSessions(str(tmp_path)))
    yield rig
    rig.line.is_stopping = True
    await asyncio.gather(*rig.tasks)
    assert await rig.sessions.sweep([]) == []


def sh(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


def say(text: str) -> str:
    return f"""echo '{{"type": "activity", "text": "{text}"}}'"""


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", "import os, sys, time\n" + textwrap.dedent(script))


async def test_an_agent_without_a_first_word_is_stalled(rig: Rig) -> None:
    task = await rig.start(*sh("sleep 600; true"))
    await rig.pass_time(timedelta(seconds=119), task)
    assert not task.done()
    await rig.pass_time(timedelta(seconds=1), task)
    report = await task
    assert (report.outcome, report.reason) == (Outcome.STALLED, "no first output for 120 s")
    assert await rig.sessions.find(rig.home) is SessionState.ENDED


async def test_a_silent_run_of_tests_for_forty_minutes_is_no_stall(rig: Rig) -> None:
    """Even one that uses no processor: its command began after the agent had said so."""
    task = await rig.start(*sh(f"{say('$ pytest')}; sh -c 'until test -e go; do sleep 0.05; done'; echo '{RESULT}'"))
    await rig.until(lambda: rig.line.texts)
    await rig.pass_time(FORTY_MINUTES, task)
    assert not task.done()
    (rig.folder / "go").touch()
    assert (await task).outcome is Outcome.COMPLETED


async def test_an_agent_that_hangs_beside_an_idle_server_of_tools_is_stalled(rig: Rig) -> None:
    """The server began before the last event and waits on its input: nothing works."""
    idle = f"mkfifo in; (exec cat < in > /dev/null) & exec 9> in; sleep 0.3; {say('thinking')}; exec tail -f /dev/null"
    task = await rig.start(*sh(idle))
    await rig.until(lambda: rig.line.texts)
    supervisor = json.loads(Path(rig.home, "pid.json").read_bytes())["pid"]
    assert "cat" in [process.name() for process in psutil.Process(supervisor).children(recursive=True)]
    await rig.pass_time(timedelta(minutes=14), task)
    assert not task.done()
    await rig.pass_time(timedelta(minutes=5), task)
    report = await task
    assert (report.outcome, report.reason) == (Outcome.STALLED, "no output and nothing at work for 900 s")


async def test_an_agent_that_hangs_alone_is_stalled_and_its_session_is_kept(rig: Rig) -> None:
    script = f"""echo '{{"type": "start", "session": "s-1"}}'; {say("edit")}; exec tail -f /dev/null"""
    task = await rig.start(*sh(script))
    await rig.until(lambda: rig.line.texts)
    await rig.pass_time(timedelta(minutes=20), task)
    report = await task
    assert (report.outcome, report.session) == (Outcome.STALLED, "s-1")


async def test_an_agent_that_speaks_again_is_given_its_time_anew(rig: Rig) -> None:
    program = f"""
        print('{{"type": "activity", "text": "one"}}', flush=True)
        while not os.path.exists("go"):
            time.sleep(0.05)
        print('{{"type": "activity", "text": "two"}}', flush=True)
        while not os.path.exists("end"):
            time.sleep(0.05)
        print({RESULT!r}, flush=True)
    """
    task = await rig.start(*python(program))
    await rig.until(lambda: rig.line.texts == ["one"])
    await rig.pass_time(timedelta(minutes=14), task)
    (rig.folder / "go").touch()
    await rig.until(lambda: rig.line.texts == ["one", "two"])
    await rig.pass_time(timedelta(minutes=14), task)
    assert not task.done()
    (rig.folder / "end").touch()
    assert (await task).outcome is Outcome.COMPLETED


async def test_a_result_and_then_silence_is_an_end_with_that_result(rig: Rig) -> None:
    task = await rig.start(*sh(f"echo '{RESULT}'; {say('bye')}; trap '' TERM; sleep 600; true"))
    await rig.until(lambda: rig.line.texts)
    seen = rig.line.looks
    await rig.until(lambda: rig.line.looks > seen + 2)
    assert not task.done()
    rig.clock.advance(LIMITS.after_result)
    report = await task
    assert (report.outcome, report.final_message) == (Outcome.COMPLETED, COMPLETION_MARKER)
    assert await rig.sessions.find(rig.home) is SessionState.ENDED


async def test_output_that_grows_without_end_is_ended_whoever_watches(rig: Rig) -> None:
    for name in ("1", "2"):
        home = str(rig.folder / name)
        launch = Launch(sh(f"exec yes >&{name}"), "/", ENV, output_limit=1 << 20)
        await rig.sessions.start(AttemptId(f"run/{name}"), home, launch)
        exit_ = await rig.sessions.wait(home, LONG_S)
        assert exit_ is not None
        assert exit_.cause == "output_limit"


async def test_output_past_its_limit_is_told_and_never_read_without_end(rig: Rig) -> None:
    task = await rig.start(*sh("trap '' TERM; yes; true"), output_limit=1 << 20)
    report = await task
    assert (report.outcome, report.reason) == (
        Outcome.CRASHED,
        "it wrote more output than agent.max_output_mb allows",
    )


async def test_an_agent_that_writes_faster_than_one_can_read_still_obeys(rig: Rig) -> None:
    program = """
        while True:
            os.write(1, b"{}\\n" * 300_000)
            time.sleep(0.05)
    """
    task = await rig.start(*python(program), output_limit=1 << 30)
    await rig.until(lambda: rig.line.looks > 1)
    rig.line.is_stopping = True
    assert (await asyncio.wait_for(task, LONG_S)).outcome is Outcome.INTERRUPTED


async def test_odd_output_is_read_to_its_result(rig: Rig) -> None:
    program = f"""
        import threading
        out = sys.stdout.buffer
        def flood():
            for _ in range(2000):
                os.write(2, b"noise " * 1000)
        threading.Thread(target=flood).start()
        out.write(b'{{"type": "activity", "text": "' + b"x" * (8 << 20) + b'"}}\\n')
        out.write(b"\\x1b[31mred\\x1b[0m\\x00\\x00 \\xff\\xfe\\n")
        text = '{{"type": "activity", "text": "caf\\u00e9"}}\\n'.encode()
        cut = text.index(b"\\xc3") + 1
        out.write(text[:cut]); out.flush(); time.sleep(0.6)
        out.write(text[cut:]); out.flush()
        if os.fork() == 0:
            time.sleep(600)
        out.write({RESULT!r}.encode()); out.flush()
    """
    report = await (await rig.start(*python(program)))
    assert (report.outcome, report.final_message.endswith(COMPLETION_MARKER)) == (Outcome.COMPLETED, True)
    assert [len(text) for text in rig.line.texts] == [200, 4]
    assert rig.line.texts[1] == "café"


async def test_the_processor_time_below_an_agent_is_seen(rig: Rig) -> None:
    """Of what lives and of what has ended, but not of the agent itself."""
    work = "n=0; while [ $n -lt 60000 ]; do n=$((n+1)); done"
    script = f"sh -c '{work}'; sh -c '{work}; echo 1 > done; exec tail -f /dev/null'"
    task = await rig.start(*sh(f"{say('make')}; {script}; true"))
    assert await rig.sessions.effort(str(rig.folder / "nowhere")) == Effort()
    await rig.until((rig.folder / "done").exists)
    effort = await rig.sessions.effort(rig.home)
    assert effort.cpu_s > 0.02
    assert effort.has_command
    rig.line.is_stopping = True
    await task
    assert await rig.sessions.effort(rig.home) == Effort()


async def test_an_agent_that_only_spins_itself_does_not_work(rig: Rig) -> None:
    task = await rig.start(*python("print('{}', flush=True)\nopen('up', 'w')\nwhile True: pass"))
    await rig.until((rig.folder / "up").exists)
    used = psutil.Process(json.loads(Path(rig.home, "pid.json").read_bytes())["pid"]).children()[0]
    await rig.until(lambda: used.cpu_times().user > 0.2)
    assert (await rig.sessions.effort(rig.home)).cpu_s < 0.05
    rig.line.is_stopping = True
    await task
    assert not os.path.exists(f"/proc/{used.pid}/fd/1")  # noqa: PTH110  (as short as it gets)
