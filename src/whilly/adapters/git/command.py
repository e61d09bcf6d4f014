"""One git process at a time: how git is called, and what its failures mean."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, final

from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, PortError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from whilly.ports.checkpoint import Checkpoint

_SETTINGS = (
    # Nothing of the user's runs by surprise: no hooks, no daemons, no signing prompt, no clean-up in the middle.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # One lane moves a branch while others write theirs: wait for each other's lock files inside git.
    "core.filesRefLockTimeout=2000",
    "core.packedRefsTimeout=5000",
    # With `true` a mere line-ending warning would be fatal to `git add`.
    "core.safecrlf=false",
    "advice.addEmbeddedRepo=false",
    "submodule.recurse=false",
    "branch.autoSetupMerge=false",
    "worktree.guessRemote=false",
)
_LOCK_FILE = re.compile(rb"Unable to create '(?P<path>[^\n]+\.lock)': File exists")
_BUSY = (
    b".lock': File exists",
    b"could not lock config file",
    b"Another git process seems to be running",
    # Another work tree is being added: its files are there, but empty still.
    b"/commondir: Success",
)
_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git process said before it ended."""

    code: int
    out: bytes
    err: bytes
    is_repeated: bool = False
    """The process was started more than once, because another held a lock; it may have done a part each time."""

    @property
    def text(self) -> str:
        """Its standard output as one line; bytes that are not UTF-8 survive as surrogates."""
        return decode(self.out).strip()

    @property
    def fields(self) -> list[str]:
        """Its standard output, cut at NUL."""
        return [decode(part) for part in self.out.split(b"\0") if part]


def decode(raw: bytes) -> str:
    """Git's bytes as text that can be turned back into the same bytes."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The inverse of `decode`."""
    return text.encode("utf-8", "surrogateescape")


@final
class Git:
    """Runs git with an environment made from nothing.

    Args:
        env: what git gets: at least `PATH` and `HOME`; nothing else is inherited.
        time_limit: after which a git process is ended, and `Unavailable` raised.
        pause: waits between two tries when another process holds a lock file.
        checkpoint: passed before and after each process.
    """

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        program: str = "git",
        time_limit: timedelta = timedelta(minutes=10),
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._program = program
        self._time_limit = time_limit
        self._pause = pause
        self._checkpoint = checkpoint
        self._env = {**env, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_EDITOR": "true"}
        self._settings = tuple(word for setting in _SETTINGS for word in ("-c", setting))
        self.spawned = 0
        """How many processes were started so far."""

    async def run(
        self,
        folder: Path,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        accept: Collection[int] = (0,),
    ) -> Answer:
        """Run `git <args>` in `folder`; another exit code than those in `accept` is an error.

        Another process's lock file is waited for. One that a killed process has left of Whilly's own (in a work tree
        that `env` names, or of a branch or ref of Whilly's) is removed when it has not changed for that long.

        Raises:
            Unavailable: disk full, a lock file that stays, a time limit, no process to spare.
            NotAuthorized: git does not trust the owner of the repository.
            NotFound: git is not installed.
            BadResponse: git refused for any other reason.
        """
        env = env or {}
        answer = await self._spawn(folder, args, stdin, env)
        seen = None
        for seconds in _PAUSES:
            if not _is_busy(answer):
                break
            seen = seen or _find_lock(answer, env)
            await self._pause(seconds)
            answer = replace(await self._spawn(folder, args, stdin, env), is_repeated=True)
        if _is_busy(answer) and seen is not None and seen == _find_lock(answer, env):
            await asyncio.to_thread(seen.path.unlink, missing_ok=True)
            answer = await self._spawn(folder, args, stdin, env)
        if answer.code not in accept or _is_busy(answer):
            raise explain(args, answer)
        return answer

    async def _spawn(self, folder: Path, args: tuple[str, ...], stdin: bytes, env: Mapping[str, str]) -> Answer:
        self.spawned += 1
        self._pass("git:before")
        words = (self._program, "-C", str(folder), *self._settings, *args)
        child = _Child([os.fsencode(word) if os.name == "posix" else word for word in words], {**self._env, **env})
        seconds = self._time_limit.total_seconds()
        job = asyncio.get_running_loop().run_in_executor(_THREADS, child.run, stdin, seconds)
        try:
            answer = await asyncio.shield(job)
        except asyncio.CancelledError:
            child.end()
            await asyncio.wait({job})
            raise
        except FileNotFoundError as error:
            message = f"{self._program} was not found on PATH"
            raise NotFound(message, remedy="install git 2.38 or later") from error
        except OSError as error:
            message = f"git could not be started: {error.strerror}"
            raise Unavailable(message, remedy=_REMEDIES.get(error.errno or 0, "")) from error
        except subprocess.TimeoutExpired as error:
            message = f"git {args[0]} did not end within {seconds:.0f} s"
            raise Unavailable(message, remedy="look at the disk and at other git processes, then run again") from error
        self._pass("git:after")
        return answer

    def _pass(self, point: str) -> None:
        if self._checkpoint is not None:
            self._checkpoint(point)


_REMEDIES = {
    errno.EAGAIN: "end some processes or raise the limit on processes (ulimit -u)",
    errno.ENOMEM: "free some memory",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
}


_THREADS = ThreadPoolExecutor(64, "git")
"""Each waits for one git process. Asyncio's own subprocesses keep the event loop, which all attempts share, busy twice
as long."""


@final
class _Child:
    """One git process; `run` is called in a thread, `end` in any other."""

    def __init__(self, words: Sequence[str | bytes], env: Mapping[str, str]) -> None:
        self._words = words
        self._env = env
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_over = False

    def run(self, stdin: bytes, seconds: float) -> Answer:
        """What it said.

        Raises:
            OSError: it could not be started.
            subprocess.TimeoutExpired: it took too long, and was ended.
        """
        with self._lock:
            if self._is_over:
                return Answer(-signal.SIGTERM, b"", b"")
            process = self._process = subprocess.Popen(  # noqa: S603  (git, with words of ours and no shell)
                self._words,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
                # Ctrl-C in the terminal is for Whilly, which ends its git in order.
                start_new_session=True,
            )
        with process:
            try:
                out, err = process.communicate(stdin or None, seconds)
            except subprocess.TimeoutExpired:
                self._end(process)
                raise
        return Answer(process.returncode, out, err)

    def end(self) -> None:
        """End it, if it was started; otherwise it is not started any more."""
        with self._lock:
            self._is_over = True
            process = self._process
        if process is not None:
            process.terminate()

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        # TERM first: git then removes its lock files.
        process.terminate()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()


@dataclass(frozen=True, slots=True)
class _Lock:
    path: Path
    inode: int
    modified: int


def _is_busy(answer: Answer) -> bool:
    return answer.code != 0 and any(sign in answer.err for sign in _BUSY)


def _find_lock(answer: Answer, env: Mapping[str, str]) -> _Lock | None:
    found = _LOCK_FILE.search(answer.err)
    if found is None:
        return None
    path = Path(decode(found["path"]))
    own = env.get("GIT_DIR")
    is_ours = "/refs/whilly/" in path.as_posix() or "/refs/heads/whilly/" in path.as_posix()
    if not is_ours and not (own and path.parent == Path(own)):
        return None
    try:
        state = path.stat()
    except OSError:
        return None
    return _Lock(path, state.st_ino, state.st_mtime_ns)


def explain(args: Sequence[str], answer: Answer) -> PortError:
    """The error that a refusal of git means."""
    said = decode(answer.err or answer.out).encode("utf-8", "replace").decode().strip()
    message = f"git {args[0]} failed ({answer.code}): {said[:2000]}"
    lock = _LOCK_FILE.search(answer.err)
    if "No space left on device" in said or "quota exceeded" in said.lower():
        return Unavailable(f"the disk is full: {message}", remedy="free some disk space, then run again")
    if lock is not None:
        path = decode(lock["path"])
        return Unavailable(message, remedy=f"if no other git process is running here, remove {path}")
    if "dubious ownership" in said:
        command = re.search(r"git config --global --add safe\.directory .+", said)
        remedy = command[0].strip() if command else "git config --global --add safe.directory <the repository>"
        return NotAuthorized(message, remedy=remedy)
    if any(sign in answer.err for sign in _BUSY) or "Cannot allocate memory" in said:
        return Unavailable(message)
    return BadResponse(message)
