"""An attempt's home, read from outside: where its process stands, how it ended, and who watches over it."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from whilly.domain.attempt import Usage
from whilly.domain.session import Exit
from whilly.ports.sessions import SessionState
from whilly.transport.process import records

if TYPE_CHECKING:
    from collections.abc import Mapping

if sys.platform != "win32":
    import fcntl

SPEC_FILE = "spec.json"
_TAIL_BYTES = 16_384
_TAIL_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Spec:
    """What was to be started, for people and for whoever has to stop it later.

    Attributes:
        environment: the names only; the values may be secret and go to the process directly.
        output_limit: in bytes; 0 is none.
    """

    attempt: str
    argv: tuple[str, ...]
    cwd: str
    environment: tuple[str, ...]
    time_limit_s: float
    grace_s: float
    output_limit: int = 0


def read_usage(fields: Mapping[str, Any]) -> Usage | None:
    """What a gateway has measured, as its record has it."""
    if "turns" not in fields:
        return None
    try:
        cost = None if fields["cost_usd"] is None else Decimal(str(fields["cost_usd"]))
        counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "turns")
        return Usage(cost, *(int(fields[name]) for name in counts))
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None


@final
class AttemptHome:
    """The files of one attempt. Every method is a handful of system calls and may be called from an event loop.

    Args:
        path: the directory; made absolute.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path).absolute()

    def prepare(self, spec: Spec, stdin: str | None) -> None:
        """Write what the supervisor and later readers need; writing it again is harmless until it is started.

        Raises:
            OSError: no room, no permission.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if stdin is not None:
            records.write_record(str(self.path / records.STDIN_FILE), stdin, is_durable=False)
        records.write_record(str(self.path / SPEC_FILE), json.dumps(asdict(spec), indent=1), is_durable=False)

    def spec(self) -> Spec | None:
        """What was to be started; None when nothing was or the file is damaged."""
        fields = self._read_json(SPEC_FILE)
        try:
            return Spec(
                attempt=fields["attempt"],
                argv=tuple(fields["argv"]),
                cwd=fields["cwd"],
                environment=tuple(fields["environment"]),
                time_limit_s=float(fields["time_limit_s"]),
                grace_s=float(fields["grace_s"]),
                output_limit=int(fields.get("output_limit", 0)),
            )
        except (KeyError, TypeError, ValueError):
            return None

    def state(self) -> SessionState:
        """Where the process stands.

        The lock is looked at before the record of the end is: a supervisor writes the record and only then lets go.
        """
        is_held = self._is_held()
        if self._read_json(records.EXIT_FILE):
            return SessionState.ENDED
        if is_held:
            return SessionState.RUNNING
        return SessionState.LOST if self.is_on_record() else SessionState.ABSENT

    def is_on_record(self) -> bool:
        """Whether a supervisor got as far as leaving its name."""
        return any((self.path / name).exists() for name in (records.PID_FILE, records.EXIT_FILE))

    def failure(self) -> tuple[str, int] | None:
        """The stage (`setup`, `chdir` or `exec`) and error number at which the start failed, if it did."""
        stage, _, number = str(self._read_json(records.EXIT_FILE).get("failure", "")).partition(" ")
        return (stage, int(number)) if number.isdigit() else None

    def is_swept(self) -> bool:
        """Whether the supervisor has proved that nothing is left of the session."""
        return self._read_json(records.EXIT_FILE).get("is_swept") is True

    def exit(self) -> Exit:
        """How it ended; `cause="lost"` when there is no word of it."""
        fields = self._read_json(records.EXIT_FILE)
        usage = read_usage(self._read_json(records.CONFINED_FILE))
        if not fields:
            return Exit(code=None, cause="lost", stderr_tail=self._error_tail(), usage=usage)
        tail = self._error_tail()
        if failure := self.failure():
            tail += f"{failure[0]}: {os.strerror(failure[1])}"
        cause = str(fields.get("cause", "") or self._read_json(records.CONFINED_FILE).get("cause", ""))
        return Exit(fields.get("code"), fields.get("signal"), cause, tail, usage)

    def bury(self, cause: str) -> bool:
        """Make sure that it is never started (again): False when a supervisor holds the home.

        Raises:
            OSError: no room, no permission.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.path / records.LOCK_FILE).open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if not self._read_json(records.EXIT_FILE):
                fields: dict[str, float | str | None] = {"code": None, "signal": None, "cause": cause, "failure": ""}
                text = records.render_exit({**fields, "is_swept": False})
                records.write_record(str(self.path / records.EXIT_FILE), text)
        return True

    def supervisor(self) -> int | None:
        """The living supervisor's process id; None when there is none alive or it is not visible from here."""
        descriptor = self.open_supervisor()
        if descriptor is not None:
            os.close(descriptor)
        elif hasattr(os, "pidfd_open") or not self._is_held():
            return None
        pid = self._read_json(records.PID_FILE).get("pid")
        return pid if isinstance(pid, int) and pid > 1 else None

    def open_supervisor(self) -> int | None:
        """A descriptor of the living supervisor's process (pidfd): it ends when that ends, and signals go through it.

        None when there is none alive, when it is not visible from here (another host or container shares the
        directory) or when the system has no such descriptors.
        """
        fields = self._read_json(records.PID_FILE)
        pid, start = fields.get("pid"), fields.get("start")
        if not isinstance(pid, int) or pid <= 1 or not hasattr(os, "pidfd_open"):
            return None
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return None
        # The pid is the lock's holder, as long as the lock is held; the start time tells apart pid namespaces.
        if self._is_held() and start == records.parse_start(records.read_text(f"/proc/{pid}/stat")):
            return descriptor
        os.close(descriptor)
        return None

    def signal(self, number: int) -> None:
        """Send a signal to the living supervisor; nothing happens when there is none."""
        try:
            if hasattr(os, "pidfd_open"):
                self._signal_exactly(number)
            else:
                pid = self._read_json(records.PID_FILE).get("pid")
                if isinstance(pid, int) and pid > 1 and self._is_held():
                    os.kill(pid, number)
        except ProcessLookupError:
            return

    def _signal_exactly(self, number: int) -> None:
        descriptor = self.open_supervisor()
        if descriptor is not None:
            try:
                signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)

    def _is_held(self) -> bool:
        try:
            descriptor = os.open(self.path / records.LOCK_FILE, os.O_RDONLY)
        except OSError:
            return False
        try:
            # Shared, so that two who look at the same time do not see each other.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _read_json(self, name: str) -> dict[str, Any]:
        try:
            fields = json.loads((self.path / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return fields if isinstance(fields, dict) else {}

    def _error_tail(self) -> str:
        try:
            with (self.path / records.ERROR_FILE).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _TAIL_BYTES))
                return file.read(_TAIL_BYTES).decode(errors="replace")[-_TAIL_CHARACTERS:]
        except OSError:
            return ""
