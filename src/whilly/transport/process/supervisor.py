"""The supervisor of one session: a program of its own, started as `python -I -S -c PROGRAM ARGUMENTS`.

It stands between Whilly and the agent, so that Whilly may be killed and upgraded while the agent works.

1. It takes an exclusive lock on `lock` for its whole life. The lock, not the pid, says that it is alive: the kernel
   drops it however the supervisor ends, and a pid may be somebody else's by now.
2. It writes `pid.json`, and starts the agent only then. A second supervisor in the same home finds the lock or a
   record and leaves with code 75: a home sees one agent at most.
3. It is the reaper of all that the agent starts (Linux), so "no children" proves that nothing is left, also of
   daemons in sessions of their own.
4. SIGTERM: TERM to the agent, its grace, KILL to everything. SIGUSR1: KILL to everything. Repeating is harmless.
   The time limit does the same as SIGTERM, also when Whilly is gone. Output past its limit is ended with KILL: it
   fills the disk.
5. When the agent is gone and everything it left is ended, it writes `exit.json`, and leaves.

Its start-up is paid by every attempt: `json`, `signal` and `ctypes` would each add a quarter to a half to it, so it
goes without them. The environment that it is given is the agent's, so that no secret is written to disk.
"""

from __future__ import annotations

import os
import sys
import time

from whilly.transport.process.agent_tree import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, AgentTree, call_prctl
from whilly.transport.process.records import (
    ERROR_FILE,
    EXIT_FILE,
    LOCK_FILE,
    OUTPUT_FILE,
    PID_FILE,
    STDIN_FILE,
    SUPERVISOR_VARIABLE,
    has_file,
    parse_start,
    read_text,
    render_exit,
    write_record,
)

if sys.platform != "win32":
    import _signal  # type: ignore[import-not-found]  # `signal` without its enums, which cost 4 ms
    import fcntl
    import select

ALREADY_STARTED = 75
"""Exit code of a supervisor that found the home taken."""

_PATIENCE_S = 1.0
"""For processes that an agent leaves behind, between TERM and KILL."""
_KILLING_S = 15.0
"""A killed process can hang in the kernel; after this it is reported as left."""
_WRITING_S = 5.0
_WATCHING_S = 1.0
"""How often it is looked at how much the agent has written."""


def _is_taken(home: str) -> bool:
    return has_file(f"{home}/{PID_FILE}") or has_file(f"{home}/{EXIT_FILE}")


def _take_lock(home: str) -> bool:
    """Lock the home for the life of this process; the descriptor stays open on purpose."""
    fd = os.open(f"{home}/{LOCK_FILE}", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + 2.0
    while not _is_taken(home):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Somebody who only looks whether the lock is held shares it for a moment.
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        else:
            # Another one may have come and gone between the look and the lock.
            return not _is_taken(home)
    return False


def _describe_self() -> str:
    start = parse_start(read_text("/proc/self/stat"))
    boot = read_text("/proc/sys/kernel/random/boot_id").strip()
    return f'{{"pid": {os.getpid()}, "start": {start}, "boot": "{boot}"}}\n'


class _Signals:
    """Signals as bytes in a pipe: no handler ever interrupts the work."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(writer, False)
        _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGUSR1):
            _signal.signal(number, lambda *_: None)

    def wait(self, seconds: float | None) -> bytes:
        """The signals that came, at the latest after `seconds`."""
        if seconds is not None:
            seconds = max(0.0, seconds)
        return os.read(self._reader, 4096) if select.select([self._reader], [], [], seconds)[0] else b""


class _Launch:
    """What to start, from the command line: see `main`."""

    def __init__(self, arguments: list[str]) -> None:
        self.home, limit, grace, most, self.lc_ctype, self.cwd, self.program, *self.command = arguments
        self.limit, self.grace, self.most = float(limit), float(grace), int(most)
        self.supervisor = os.getpid()

    def path(self, name: str) -> str:
        """Of a file in the home."""
        return f"{self.home}/{name}"

    def has_written_too_much(self) -> bool:
        """Whether the output is past its limit."""
        return self.most > 0 and any(_find_size(self.path(name)) > self.most for name in (OUTPUT_FILE, ERROR_FILE))


def _find_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _become_agent(launch: _Launch, report: int) -> None:
    """In the forked child: turn into the agent, or say at which stage it failed and why."""
    stage = "setup"
    try:
        os.setsid()
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        source = launch.path(STDIN_FILE)
        os.dup2(os.open(source if has_file(source) else os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(launch.path(OUTPUT_FILE), append, 0o600), 1)
        os.dup2(os.open(launch.path(ERROR_FILE), append, 0o600), 2)
        # An agent without its supervisor has no time limit and nobody to report to.
        if call_prctl(PR_SET_PDEATHSIG, _signal.SIGTERM) and os.getppid() != launch.supervisor:
            os._exit(127)
        for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)  # Python ignores them, and that would be inherited
        stage = "chdir"
        os.chdir(launch.cwd)
        stage = "exec"
        os.execve(launch.program, launch.command, _make_environment(launch))  # noqa: S606 - no shell, on purpose
    except OSError as error:
        os.write(report, f"{stage} {error.errno}".encode())
    finally:
        os._exit(127)


def _make_environment(launch: _Launch) -> dict[bytes, bytes]:
    environment = dict(os.environb)
    environment.pop(SUPERVISOR_VARIABLE.encode(), None)
    # Python sets LC_CTYPE for itself in a C locale (PEP 538).
    environment.pop(b"LC_CTYPE", None)
    if launch.lc_ctype:
        environment[b"LC_CTYPE"] = os.fsencode(launch.lc_ctype[1:])
    return environment


def _start_agent(launch: _Launch) -> tuple[int, str]:
    """The agent's pid, or 0 and the stage and error number at which it failed."""
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        return 0, f"fork {error.errno}"
    if pid == 0:
        _become_agent(launch, writer)
    os.close(writer)
    failure = os.read(reader, 64).decode()
    os.close(reader)
    if failure:
        os.waitpid(pid, 0)
        return 0, failure
    return pid, ""


def _tell_starter(message: str) -> None:
    """Whoever started us waits on our standard output, if it is still alive."""
    try:
        os.write(1, message.encode())
    except OSError:
        return
    finally:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)


def _watch(agent: AgentTree, signals: _Signals, launch: _Launch) -> tuple[str, bool]:
    """Stay until the agent has ended; why it was ended, and whether its patience is used up."""
    cause, is_forced = "", False
    next_at = time.monotonic() + launch.limit if launch.limit else None
    while True:
        agent.reap()
        if agent.status is not None:
            return cause, is_forced
        now = time.monotonic()
        if not cause and launch.has_written_too_much():
            cause, next_at = "output_limit", now
        if next_at is not None and now >= next_at:
            if cause:
                is_forced, next_at = True, None
                agent.signal(_signal.SIGKILL)
            else:
                cause, next_at = "time_limit", now + launch.grace
                agent.signal(_signal.SIGTERM)
        came = signals.wait(_find_pause(next_at, is_watched=launch.most > 0))
        if _signal.SIGUSR1 in came:
            cause, next_at = cause or "stopped", time.monotonic()
        elif not cause and any(number in came for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)):
            cause, next_at = "stopped", time.monotonic() + launch.grace
            agent.signal(_signal.SIGTERM)


def _find_pause(next_at: float | None, *, is_watched: bool) -> float | None:
    left = None if next_at is None else next_at - time.monotonic()
    return min(_WATCHING_S, _WATCHING_S if left is None else left) if is_watched else left


def _end_rest(agent: AgentTree, signals: _Signals, patience: float) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until and agent.is_left():
        agent.ask_rest()
        if _signal.SIGUSR1 in signals.wait(min(0.05, until - time.monotonic())):
            break
    until = time.monotonic() + _KILLING_S
    while agent.is_left() and time.monotonic() < until:
        agent.kill_rest()
        signals.wait(0.01)


def _write_exit(launch: _Launch, fields: dict[str, float | str | None]) -> None:
    """Leave word; a full disk may have room again soon, and without word the session counts as lost."""
    until = time.monotonic() + _WRITING_S
    while True:
        try:
            write_record(launch.path(EXIT_FILE), render_exit(fields))
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def _supervise(launch: _Launch) -> None:
    began = time.monotonic()
    signals = _Signals()
    is_reaper = call_prctl(PR_SET_CHILD_SUBREAPER, 1)
    pid, failure = _start_agent(launch)
    if failure.startswith("fork"):
        # Nothing was started, so it may be tried again.
        os.unlink(launch.path(PID_FILE))
        _tell_starter(failure)
        return
    if failure:
        _write_exit(launch, {"code": 127, "signal": None, "cause": "", "failure": failure, "is_swept": True})
        _tell_starter(failure)
        return
    _tell_starter("started")
    agent = AgentTree(pid, is_reaper=is_reaper)
    cause, is_forced = _watch(agent, signals, launch)
    _end_rest(agent, signals, 0.0 if is_forced else min(launch.grace, _PATIENCE_S))
    code = os.waitstatus_to_exitcode(agent.status or 0)
    user, system, resident = agent.usage
    fields: dict[str, float | str | None] = {
        "code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "cause": cause,
        "failure": "",
        "is_swept": agent.is_proven_gone(),
        "seconds": round(time.monotonic() - began, 3),
        "user_s": round(user, 3),
        "system_s": round(system, 3),
        "max_resident_kib": resident // 1024 if sys.platform == "darwin" else resident,
    }
    _write_exit(launch, fields)


PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from whilly.transport.process.supervisor import run; run()"
"""What Python is to run; the first argument is the folder that holds the package.

A module, not a script: Python keeps the compiled form of modules only.
"""


def main(arguments: list[str]) -> int:
    """Run one session.

    Args:
        arguments: HOME, time limit and grace in seconds, bytes of output, `=`LC_CTYPE or nothing, cwd, program, argv.
    """
    launch = _Launch(arguments)
    os.closerange(3, 4096)
    os.chdir("/")
    if not _take_lock(launch.home):
        return ALREADY_STARTED
    try:
        write_record(launch.path(PID_FILE), _describe_self())
    except OSError as error:
        _tell_starter(f"record {error.errno}")
        return 1
    _supervise(launch)
    return 0


def run() -> None:
    """The whole program: there is nothing to tidy up that the kernel does not, and somebody waits for the end."""
    os._exit(main(sys.argv[1:]))
