"""Sessions as real processes: what they leave, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psutil
import pytest

import whilly
from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.errors import NotFound, PortError, Unavailable
from whilly.domain.ids import AttemptId
from whilly.domain.session import Exit, Launch
from whilly.ports.sessions import Sessions, SessionState
from whilly.testing.contracts import SessionsContract, SessionsRig
from whilly.transport.process.census import find_carriers
from whilly.transport.process.home import AttemptHome, Spec
from whilly.transport.process.launching import find_program, mark, spawn_supervisor
from whilly.transport.process.records import parse_start, read_text
from whilly.transport.process.supervisor import PROGRAM

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no supervised sessions on Windows")

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="it takes /proc, a reaper or process descriptors")

ENV = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"}
FIRST = AttemptId("run/1")
SHORT = timedelta(seconds=0.3)
LONG_S = 20.0
T = TypeVar("T")


def sh(script: str, *, grace: timedelta | None = SHORT, time_limit: timedelta | None = None) -> Launch:
    return Launch(("sh", "-c", script), "/", ENV, grace=grace, time_limit=time_limit)


def python(script: str, *, grace: timedelta | None = SHORT) -> Launch:
    program = "import os, signal, sys, time\n" + textwrap.dedent(script)
    return Launch((sys.executable, "-I", "-S", "-c", program), "/", ENV, grace=grace)


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(look: Callable[[], T]) -> T:
    """What `look` finds, once it finds something."""
    deadline = time.monotonic() + LONG_S
    while not (found := look()):
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.01)
    return found


class ProcessRig:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions: Sessions = ProcessSessions(str(path))

    def home(self, name: str) -> str:
        return str(self.path / "attempts" / name)

    def launch(self, output: bytes = b"", *, code: int = 0, is_endless: bool = False) -> Launch:
        (self.path / "output").write_bytes(output)
        return sh(f"cat '{self.path}/output'; {'exec sleep 600' if is_endless else f'exit {code}'}")

    def launch_missing(self) -> Launch:
        return Launch(("no-such-program",), "/", ENV)

    async def lose(self, home: str) -> None:
        os.kill(self.supervisor(home), signal.SIGKILL)
        place = AttemptHome(home)
        await until(lambda: place.state() is not SessionState.RUNNING)

    def supervisor(self, home: str) -> int:
        return int(json.loads(Path(home, "pid.json").read_bytes())["pid"])

    async def read_pids(self, name: str, count: int) -> list[int]:
        """Process ids that a test's processes have written, one a line."""
        path = self.path / name
        lines = await until(lambda: path.exists() and len(path.read_text().split()) >= count and path.read_text())
        return [int(pid) for pid in str(lines).split()]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[ProcessRig]:
    """Fails a test after which a process still carries this test's mark, or any zombie is ours."""
    yield ProcessRig(tmp_path)
    deadline = time.monotonic() + 3
    while (left := find_marked(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def find_marked(path: Path) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            is_marked = process.environ().get("WHILLY_STATE_DIR") == str(path)
        except psutil.Error:
            continue
        if is_marked and process.pid != os.getpid():
            found.append(process.pid)
    return found


class TestProcessSessions(SessionsContract):
    @pytest.fixture
    def rig(self, rig: ProcessRig) -> SessionsRig:
        return rig


async def test_a_signal_that_ends_the_agent_is_told(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("echo oops >&2; kill -KILL $$"))
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(None, signal.SIGKILL, "", "oops\n")


@linux_only
async def test_the_environment_is_the_given_one_and_the_marks(rig: ProcessRig) -> None:
    launch = Launch(("/usr/bin/env", "-0"), "/", {"ODD": "a\nb\udcff", "EMPTY": ""})
    await rig.sessions.start(FIRST, rig.home("a"), launch)
    await rig.sessions.wait(rig.home("a"), LONG_S)
    output = Path(rig.home("a"), "events.jsonl").read_bytes()
    marks = {b"WHILLY_ATTEMPT_ID=run/1", b"WHILLY_STATE_DIR=" + os.fsencode(rig.path)}
    assert set(output.rstrip(b"\0").split(b"\0")) == {b"ODD=a\nb\xff", b"EMPTY="} | marks


async def test_a_c_locale_that_was_asked_for_is_kept(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), Launch(("/usr/bin/env",), "/", {"LC_CTYPE": "C"}))
    await rig.sessions.wait(rig.home("a"), LONG_S)
    assert b"LC_CTYPE=C" in (await rig.sessions.read(rig.home("a"), 0))[0]


async def test_no_value_of_the_environment_is_written_down(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), Launch(("true",), "/", {**ENV, "KEY": "hush-hush"}))
    await rig.sessions.wait(rig.home("a"), LONG_S)
    files = [path for path in Path(rig.home("a")).iterdir() if path.is_file()]
    assert files
    assert [path.name for path in files if b"hush-hush" in path.read_bytes()] == []


async def test_arguments_and_input_arrive_as_they_are(rig: ProcessRig) -> None:
    text = "é$(id)\n`id`" + "x" * 300_000
    script = "import sys; print(sys.argv[1] == '$(id) \"', len(sys.stdin.read()))"
    launch = Launch((sys.executable, "-I", "-c", script, '$(id) "'), "/", ENV, stdin=text)
    await rig.sessions.start(FIRST, rig.home("a"), launch)
    await rig.sessions.wait(rig.home("a"), LONG_S)
    assert (await rig.sessions.read(rig.home("a"), 0))[0] == [f"True {len(text)}".encode()]


async def test_without_input_the_agent_reads_nothing(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("cat; exit 6"))
    exit_ = await rig.sessions.wait(rig.home("a"), LONG_S)
    assert exit_ is not None
    assert exit_.code == 6


@linux_only
async def test_the_agent_has_no_descriptors_but_its_own(rig: ProcessRig) -> None:
    leak = os.dup2(0, 57)  # which makes it one that children inherit
    try:
        await rig.sessions.start(FIRST, rig.home("a"), python("print(sorted(os.listdir('/proc/self/fd'))[:-1])"))
    finally:
        os.close(leak)
    await rig.sessions.wait(rig.home("a"), LONG_S)
    assert (await rig.sessions.read(rig.home("a"), 0))[0] == [b"['0', '1', '2']"]


async def test_the_agent_has_a_session_of_its_own(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), python("print(os.getsid(0) == os.getpgrp() == os.getpid())"))
    await rig.sessions.wait(rig.home("a"), LONG_S)
    assert (await rig.sessions.read(rig.home("a"), 0))[0] == [b"True"]


@linux_only
async def test_signals_have_their_ordinary_meaning_in_the_agent(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2"))
    await rig.sessions.wait(rig.home("a"), LONG_S)
    masks = (await rig.sessions.read(rig.home("a"), 0))[0]
    assert [int(mask, 16) & 0x7FFFFFFF for mask in masks] == [0, 0]


async def test_an_agent_that_ignores_term_is_killed_after_its_grace(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("trap '' TERM; echo up; while :; do sleep 1; done"))
    await until(lambda: Path(rig.home("a"), "events.jsonl").read_bytes())
    began = time.monotonic()
    assert await rig.sessions.stop(rig.home("a")) == Exit(None, signal.SIGKILL, "stopped")
    assert SHORT.total_seconds() <= time.monotonic() - began < 3


async def test_at_once_does_not_wait_for_the_grace(rig: ProcessRig) -> None:
    launch = sh("trap '' TERM; echo up; while :; do sleep 1; done", grace=timedelta(minutes=5))
    await rig.sessions.start(FIRST, rig.home("a"), launch)
    await until(lambda: Path(rig.home("a"), "events.jsonl").read_bytes())
    patient = asyncio.create_task(rig.sessions.stop(rig.home("a")))
    await asyncio.sleep(0)
    hurried = await rig.sessions.stop(rig.home("a"), at_once=True)
    assert await patient == hurried == Exit(None, signal.SIGKILL, "stopped")


async def test_an_agent_may_use_its_grace(rig: ProcessRig) -> None:
    launch = sh("trap 'echo saved; exit 9' TERM; echo up; while :; do sleep 0.05; done", grace=timedelta(minutes=1))
    await rig.sessions.start(FIRST, rig.home("a"), launch)
    await until(lambda: Path(rig.home("a"), "events.jsonl").read_bytes())
    assert await rig.sessions.stop(rig.home("a")) == Exit(9, None, "stopped")
    assert (await rig.sessions.read(rig.home("a"), 0))[0] == [b"up", b"saved"]


async def test_the_time_limit_holds(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("exec sleep 600", time_limit=SHORT))
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(None, signal.SIGTERM, "time_limit")


async def test_the_time_limit_ends_an_agent_that_ignores_it(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("trap '' TERM; while :; do sleep 1; done", time_limit=SHORT))
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(None, signal.SIGKILL, "time_limit")


DAEMONS = {
    "in the background": "sh -c 'echo $$ > pid; exec sleep 600' &",
    "in a session of its own": "setsid sh -c 'echo $$ > pid; exec sleep 600' &",
    "twice forked": "(setsid sh -c 'echo $$ > pid; exec sleep 600' &) &",
    "without the mark": "env -i PATH=/usr/bin:/bin setsid sh -c 'echo $$ > pid; exec sleep 600' &",
    "ignoring TERM": "setsid sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' &",
}


@pytest.mark.parametrize("how", [pytest.param(how, marks=linux_only if "mark" in how else ()) for how in DAEMONS])
async def test_what_an_agent_leaves_is_ended(rig: ProcessRig, how: str) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh(f"cd '{rig.path}'; {DAEMONS[how]} until test -s pid; do :; done"))
    exit_ = await rig.sessions.wait(rig.home("a"), LONG_S)
    assert exit_ == Exit(0)
    [pid] = await rig.read_pids("pid", 1)
    assert not is_alive(pid)


@pytest.mark.parametrize("how", [how for how in DAEMONS if how != "without the mark"])
async def test_nothing_is_left_when_the_supervisor_was_killed(rig: ProcessRig, how: str) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh(f"cd '{rig.path}'; {DAEMONS[how]} trap '' TERM; sleep 600"))
    [pid] = await rig.read_pids("pid", 1)
    await rig.lose(rig.home("a"))
    assert (await rig.sessions.stop(rig.home("a"))).cause == "lost"
    assert not is_alive(pid)
    assert find_marked(rig.path) == []


async def test_waiting_for_a_lost_session_ends_its_rest(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh(f"cd '{rig.path}'; {DAEMONS['twice forked']} sleep 600"))
    [pid] = await rig.read_pids("pid", 1)
    await rig.lose(rig.home("a"))
    exit_ = await rig.sessions.wait(rig.home("a"), LONG_S)
    assert exit_ is not None
    assert exit_.cause == "lost"
    assert not is_alive(pid)


async def test_sweeping_finds_what_killed_supervisors_left(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh(f"cd '{rig.path}'; {DAEMONS['twice forked']} sleep 600"))
    [pid] = await rig.read_pids("pid", 1)
    await rig.lose(rig.home("a"))
    assert any(f"({pid})" in line for line in await rig.sessions.sweep([]))
    assert not is_alive(pid)


async def test_sweeping_leaves_other_repositories_alone(rig: ProcessRig, tmp_path: Path) -> None:
    other = ProcessRig(tmp_path / "other")
    await other.sessions.start(FIRST, other.home("a"), sh("exec sleep 600"))
    assert await rig.sessions.sweep([]) == []
    assert await other.sessions.find(other.home("a")) is SessionState.RUNNING
    assert len(await other.sessions.sweep([])) >= 2


FORKING = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    until = time.monotonic() + {seconds}
    open({path!r}, "w").write("up")
    while time.monotonic() < until:
        if os.fork():
            os._exit(0)
        os.setsid()
"""
"""It ends by itself when nobody has caught it: an aborted test run must not leave it behind."""


@linux_only
async def test_an_agent_that_keeps_forking_is_caught(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), python(FORKING.format(path=str(rig.path / "up"), seconds=LONG_S)))
    await until((rig.path / "up").exists)
    assert (await rig.sessions.stop(rig.home("a"), at_once=True)).cause in {"", "stopped"}
    assert find_marked(rig.path) == []


@linux_only
async def test_an_agent_that_keeps_forking_is_caught_without_its_supervisor(rig: ProcessRig) -> None:
    script = FORKING.replace("os.setsid()", "os.setsid(); time.sleep(0.001)").format(
        path=str(rig.path / "up"), seconds=LONG_S
    )
    await rig.sessions.start(FIRST, rig.home("a"), python(script + "\n"))
    await until((rig.path / "up").exists)
    await rig.lose(rig.home("a"))
    assert (await rig.sessions.stop(rig.home("a"))).cause == "lost"
    assert find_marked(rig.path) == []


@linux_only
def test_what_comes_while_others_are_looked_at_is_seen(tmp_path: Path) -> None:
    environment = mark(ENV, FIRST, str(tmp_path))
    started = [subprocess.Popen(["sleep", str(LONG_S)], env=environment)]
    try:
        looking = find_carriers(str(tmp_path), lambda _: True)
        assert next(looking).pid == started[0].pid
        started.append(subprocess.Popen(["sleep", str(LONG_S)], env=environment))
        assert [carrier.pid for carrier in looking] == [started[1].pid]
    finally:
        for process in started:
            process.kill()
            process.wait()


@linux_only
@pytest.mark.parametrize("pause", ["", "; time.sleep(0.001)"])
async def test_what_keeps_forking_ends_by_itself_when_nobody_catches_it(rig: ProcessRig, pause: str) -> None:
    script = FORKING.replace("os.setsid()", f"os.setsid(){pause}").format(path=str(rig.path / "up"), seconds=0.2)
    program = "import os, signal, sys, time\n" + textwrap.dedent(script)
    environment = mark(ENV, FIRST, str(rig.path))
    subprocess.run([sys.executable, "-I", "-S", "-c", program], env=environment, check=True, timeout=LONG_S)
    await until(lambda: not find_marked(rig.path))


@linux_only
async def test_a_tree_that_keeps_growing_is_felled(rig: ProcessRig) -> None:
    grow = "sh -c 'trap \"\" TERM; sleep 30 & sleep 30' &"
    script = f"trap '' TERM; echo up; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); {grow} sleep 0.01; done"
    await rig.sessions.start(FIRST, rig.home("a"), sh(script))
    await until(lambda: Path(rig.home("a"), "events.jsonl").read_bytes())
    assert (await rig.sessions.stop(rig.home("a"))).signal == signal.SIGKILL
    assert find_marked(rig.path) == []


async def test_output_held_open_by_a_daemon_holds_nothing_up(rig: ProcessRig) -> None:
    script = "(trap '' TERM; exec sleep 600) & echo done"
    began = time.monotonic()
    await rig.sessions.start(FIRST, rig.home("a"), sh(script))
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(0)
    assert time.monotonic() - began < 5
    assert (await rig.sessions.read(rig.home("a"), 0))[0] == [b"done"]


async def test_a_program_that_cannot_run_is_said_by_the_supervisor(rig: ProcessRig) -> None:
    program = rig.path / "program"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    for _ in range(2):
        with pytest.raises(NotFound, match="cannot be run"):
            await rig.sessions.start(FIRST, rig.home("a"), Launch((str(program),), "/", ENV))
    exit_ = await rig.sessions.wait(rig.home("a"), LONG_S)
    assert exit_ is not None
    assert exit_.code == 127
    assert "No such file" in exit_.stderr_tail


async def test_a_missing_directory_is_named(rig: ProcessRig) -> None:
    with pytest.raises(NotFound, match="/no/such/directory"):
        await rig.sessions.start(FIRST, rig.home("a"), Launch(("/bin/sh",), "/no/such/directory", ENV))


async def test_an_impossible_command_line_is_refused(rig: ProcessRig) -> None:
    for argument in ("a\0b", "\ud800", "x" * 10_000_000):
        with pytest.raises(PortError):
            await rig.sessions.start(FIRST, rig.home("a"), Launch(("true", argument), "/", ENV))
        assert await rig.sessions.find(rig.home("a")) is SessionState.ABSENT
    await rig.sessions.start(FIRST, rig.home("a"), Launch(("true",), "/", ENV))
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(0)


async def test_a_machine_without_room_for_a_process_is_unavailable(rig: ProcessRig) -> None:
    script = f"""
        import asyncio, resource
        from whilly.adapters.process.sessions import ProcessSessions
        from whilly.domain.errors import Unavailable
        from whilly.domain.session import Launch
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
        try:
            asyncio.run(ProcessSessions({str(rig.path)!r}).start("run/1", {rig.home("a")!r}, Launch(("true",), "/")))
        except Unavailable as error:
            print("unavailable", error)
    """
    output = subprocess.check_output([sys.executable, "-c", textwrap.dedent(script)], text=True)
    assert output.startswith("unavailable")


@linux_only
@pytest.mark.parametrize("is_locked", [False, True])
async def test_a_foreign_process_with_the_recorded_pid_is_left_alone(rig: ProcessRig, *, is_locked: bool) -> None:
    """Unlocked: the pid is somebody else's by now. Locked: it means another process elsewhere, as in a container."""
    with subprocess.Popen(["sleep", "600"]) as foreign:
        place = AttemptHome(rig.home("a"))
        place.path.mkdir(parents=True)
        start = parse_start(read_text(f"/proc/{foreign.pid}/stat")) + is_locked
        (place.path / "pid.json").write_text(json.dumps({"pid": foreign.pid, "start": start, "boot": "x"}))
        with (place.path / "lock").open("w") as lock:
            if is_locked:
                fcntl.flock(lock, fcntl.LOCK_EX)
            assert place.state() is (SessionState.RUNNING if is_locked else SessionState.LOST)
            place.signal(signal.SIGKILL)
            assert await rig.sessions.sweep([]) == []
        assert (await rig.sessions.stop(rig.home("a"))).cause == "lost"
        assert foreign.poll() is None
        foreign.kill()


@linux_only
async def test_a_home_that_is_held_elsewhere_cannot_be_stopped_from_here(rig: ProcessRig) -> None:
    place = AttemptHome(rig.home("a"))
    place.path.mkdir(parents=True)
    (place.path / "pid.json").write_text(json.dumps({"pid": os.getpid(), "start": 1, "boot": "x"}))
    with (place.path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Unavailable, match="another machine"):
            await ProcessSessions(str(rig.path), patience=SHORT).stop(rig.home("a"), at_once=True)


async def test_a_damaged_record_of_the_end_counts_as_none(rig: ProcessRig) -> None:
    await rig.sessions.start(FIRST, rig.home("a"), sh("exit 0"))
    await rig.sessions.wait(rig.home("a"), LONG_S)
    Path(rig.home("a"), "exit.json").write_bytes(b"")
    assert await rig.sessions.find(rig.home("a")) is SessionState.LOST


async def start_without_room(rig: ProcessRig) -> Path:
    """A session that ends with 3, and what is in the way of the record of its end."""
    go = rig.path / "go"
    await rig.sessions.start(FIRST, rig.home("a"), sh(f"until test -e '{go}'; do sleep 0.01; done; exit 3"))
    obstacle = Path(rig.home("a"), f"exit.json.{rig.supervisor(rig.home('a'))}.tmp")
    obstacle.mkdir()
    go.touch()
    return obstacle


async def test_the_record_of_the_end_is_tried_again_when_the_disk_is_full(rig: ProcessRig) -> None:
    obstacle = await start_without_room(rig)
    assert await rig.sessions.wait(rig.home("a"), 0.5) is None
    obstacle.rmdir()
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(3)


async def test_a_session_whose_end_could_not_be_written_is_lost(rig: ProcessRig) -> None:
    await start_without_room(rig)
    exit_ = await rig.sessions.wait(rig.home("a"), LONG_S)
    assert exit_ is not None
    assert exit_.cause == "lost"


def test_a_supervisor_loads_nothing_that_slows_its_start() -> None:
    program = PROGRAM.replace("run()", "print(*sys.modules)")
    root = str(Path(whilly.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", program, root]
    loaded = set(subprocess.check_output(command, text=True).split())
    assert loaded & {"re", "enum", "json", "signal", "subprocess", "ctypes", "pathlib", "typing", "site"} == set()
    assert "whilly.transport.process.supervisor" in loaded


async def test_reading_goes_on_after_somebody_cut_the_output(rig: ProcessRig) -> None:
    go = rig.path / "go"
    await rig.sessions.start(
        FIRST, rig.home("a"), sh(f"echo first; until test -e '{go}'; do sleep 0.01; done; echo last")
    )
    output = Path(rig.home("a"), "events.jsonl")
    await until(output.read_bytes)
    lines, offset = await rig.sessions.read(rig.home("a"), 0)
    output.write_bytes(b"")
    assert await rig.sessions.read(rig.home("a"), offset) == ([], 0)
    go.touch()
    await rig.sessions.wait(rig.home("a"), LONG_S)
    assert (lines, await rig.sessions.read(rig.home("a"), 0)) == ([b"first"], ([b"last"], 5))


async def test_the_end_is_noticed_at_once(rig: ProcessRig) -> None:
    """Of ours by its parent, of another's too; the median of several, because the machine may be busy."""
    delays = []
    for number in range(9):
        home = rig.home(str(number))
        await rig.sessions.start(FIRST, home, sh("exec sleep 0.1"))
        await ProcessSessions(str(rig.path)).wait(home, LONG_S)
        delays.append(time.time_ns() / 1e9 - Path(home, "exit.json").stat().st_mtime)
        await rig.sessions.find(home)
    assert sorted(delays)[4] < 0.05


async def test_fifty_sessions_run_side_by_side(rig: ProcessRig) -> None:
    async def run(number: int) -> Exit | None:
        home = rig.home(str(number))
        await rig.sessions.start(AttemptId(f"run/{number}"), home, sh(f"sleep 0.2; exit {number}"))
        return await rig.sessions.wait(home, 60)

    exits = await asyncio.gather(*map(run, range(50)))
    assert exits == [Exit(number) for number in range(50)]


def test_an_event_loop_in_any_thread_will_do(rig: ProcessRig) -> None:
    exits: list[Exit | None] = []

    async def run() -> None:
        await rig.sessions.start(FIRST, rig.home("a"), sh("exit 2"))
        exits.append(await rig.sessions.wait(rig.home("a"), LONG_S))

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    thread.join()
    assert exits == [Exit(2)]


ENGINE = """
    import asyncio, sys
    from whilly.adapters.process.sessions import ProcessSessions
    from whilly.domain.session import Launch
    from whilly.transport.process.home import AttemptHome, Spec

    async def main(state, live, done, never):
        sessions = ProcessSessions(state)
        env = {"PATH": "/usr/bin:/bin"}
        script = "until test -e go; do sleep 0.01; done; exit 7"
        await sessions.start("run/1", live, Launch(("sh", "-c", script), state, env))
        await sessions.start("run/2", done, Launch(("sh", "-c", "exit 8"), state, env))
        AttemptHome(never).prepare(Spec("run/3", ("true",), "/", (), 0.0, 1.0), "text")
        print("up", flush=True)
        await asyncio.sleep(600)

    asyncio.run(main(*sys.argv[1:]))
"""


async def test_what_a_killed_engine_left_is_adopted_collected_or_found_unstarted(rig: ProcessRig) -> None:
    live, done, never = rig.home("live"), rig.home("done"), rig.home("never")
    arguments = [sys.executable, "-c", textwrap.dedent(ENGINE), str(rig.path), live, done, never]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as engine:
        assert engine.stdout is not None
        assert engine.stdout.readline() == b"up\n"
        engine.kill()
    assert await rig.sessions.find(live) is SessionState.RUNNING
    assert await rig.sessions.wait(done, LONG_S) == Exit(8)
    assert await rig.sessions.find(never) is SessionState.ABSENT
    await rig.sessions.start(AttemptId("run/3"), never, sh("exit 9"))
    assert await rig.sessions.wait(never, LONG_S) == Exit(9)
    assert await rig.sessions.wait(live, 0.05) is None
    (rig.path / "go").touch()
    began = time.monotonic()
    assert await rig.sessions.wait(live, LONG_S) == Exit(7)
    assert time.monotonic() - began < 1


async def test_a_killed_engine_does_not_lift_the_time_limit(rig: ProcessRig) -> None:
    script = """
        import asyncio, os, sys
        from datetime import timedelta
        from whilly.adapters.process.sessions import ProcessSessions
        from whilly.domain.session import Launch

        async def main(state, home):
            launch = Launch(("/bin/sleep", "600"), "/", {}, time_limit=timedelta(seconds=0.5))
            await ProcessSessions(state).start("run/1", home, launch)
            os.kill(os.getpid(), 9)

        asyncio.run(main(*sys.argv[1:]))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(rig.path), rig.home("a")], check=False)
    assert await rig.sessions.wait(rig.home("a"), LONG_S) == Exit(None, signal.SIGTERM, "time_limit")


async def test_two_engines_that_start_the_same_home_start_one_agent(rig: ProcessRig) -> None:
    script = """
        import asyncio, sys
        from whilly.adapters.process.sessions import ProcessSessions
        from whilly.domain.session import Launch

        async def main(state, home):
            sessions = ProcessSessions(state)
            sys.stdin.read(1)
            launch = Launch(("sh", "-c", "echo one; sleep 0.2"), "/", {"PATH": "/usr/bin:/bin"})
            await sessions.start("run/1", home, launch)
            print(await sessions.wait(home, 20))

        asyncio.run(main(*sys.argv[1:]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(rig.path), rig.home("a")]
    engines = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
    await asyncio.sleep(0.5)
    for engine in engines:
        assert engine.stdin is not None
        engine.stdin.write(b"x")
        engine.stdin.flush()
    outputs = [await asyncio.to_thread(engine.communicate) for engine in engines]
    assert {output for output, _ in outputs} == {f"{Exit(0)}\n".encode()}
    assert (await rig.sessions.read(rig.home("a"), 0))[0] == [b"one"]


async def test_a_supervisor_that_comes_too_late_leaves(rig: ProcessRig) -> None:
    place, launch = AttemptHome(rig.home("a")), sh("echo never")
    spec = Spec(FIRST, launch.argv, "/", (), 0.0, 1.0)
    place.prepare(spec, None)
    await rig.sessions.stop(rig.home("a"))
    environment = mark(ENV, FIRST, str(rig.path))
    pid, answer = spawn_supervisor(sys.executable, rig.home("a"), find_program(launch) or "", spec, environment)
    os.close(answer)
    _, status = await asyncio.to_thread(os.waitpid, pid, 0)
    assert os.waitstatus_to_exitcode(status) == 75
    assert await rig.sessions.read(rig.home("a"), 0) == ([], 0)


async def test_a_supervisor_that_does_not_react_is_ended_too(rig: ProcessRig) -> None:
    sessions = ProcessSessions(str(rig.path), patience=SHORT)
    await sessions.start(FIRST, rig.home("a"), sh("exec sleep 600"))
    os.kill(rig.supervisor(rig.home("a")), signal.SIGSTOP)
    assert (await sessions.stop(rig.home("a"), at_once=True)).cause == "stopped"
    assert find_marked(rig.path) == []


async def test_the_census_spares_whoever_looks(rig: ProcessRig) -> None:
    script = f"""
        from whilly.transport.process.census import find_carriers
        print([carrier.pid for carrier in find_carriers({str(rig.path)!r}, lambda attempt: True)])
    """
    environment = mark(ENV, FIRST, str(rig.path))
    command = [sys.executable, "-c", textwrap.dedent(script)]
    assert subprocess.check_output(command, env=environment) == b"[]\n"
    assert list(find_carriers(str(rig.path), lambda _attempt: True)) == []


async def test_a_supervisor_that_cannot_run_is_reported(rig: ProcessRig) -> None:
    sessions = ProcessSessions(str(rig.path), python="/bin/false")
    with pytest.raises(Unavailable, match=r"supervisor\.log"):
        await sessions.start(FIRST, rig.home("a"), sh("exit 0"))
