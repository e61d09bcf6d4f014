"""Starting a supervisor, detached from this process in every respect."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.transport.process import supervisor
from whilly.transport.process.census import ATTEMPT_VARIABLE, STATE_VARIABLE
from whilly.transport.process.records import SUPERVISOR_VARIABLE

if TYPE_CHECKING:
    from whilly.domain.session import Launch
    from whilly.transport.process.home import Spec

SUPERVISOR_LOG = "supervisor.log"
_SIGNALS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP} if sys.platform != "win32" else set()
_PACKAGE_ROOT = str(Path(__file__).parents[3])


def find_program(launch: Launch) -> str | None:
    """Absolute path of the program, looked for as execvpe(3) would in the new process; None when there is none."""
    program = launch.argv[0]
    if "/" in program:
        path = Path(launch.cwd, program)
        return str(path) if path.is_file() and os.access(path, os.X_OK) else None
    found = shutil.which(program, path=launch.env.get("PATH", os.defpath))
    return str(Path(launch.cwd, found)) if found else None


def spawn_supervisor(python: str, home: str, program: str, spec: Spec, environment: dict[str, str]) -> tuple[int, int]:
    """The supervisor's pid, and a descriptor on which it says `started` or why it has not, and which then ends.

    Raises:
        OSError: no process, memory or room for it; the command line is too long.
        ValueError: an argument or variable holds a NUL or cannot be encoded.
    """
    lc_ctype = environment.get("LC_CTYPE")
    arguments = [
        *(python, "-I", "-S", "-c", supervisor.PROGRAM, _PACKAGE_ROOT),
        *(
            home,
            str(spec.time_limit_s),
            str(spec.grace_s),
            str(spec.output_limit),
            "" if lc_ctype is None else f"={lc_ctype}",
        ),
        *(spec.cwd, program, *spec.argv),
    ]
    reader, writer = os.pipe()
    try:
        pid = os.posix_spawn(
            python,
            arguments,
            {**environment, SUPERVISOR_VARIABLE: home},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writer, 1),
                (os.POSIX_SPAWN_OPEN, 2, f"{home}/{SUPERVISOR_LOG}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            ],
            setsid=True,
            # What this process ignores or blocks is its own affair.
            setsigmask=(),
            setsigdef=_SIGNALS,
        )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    return pid, reader


def mark(environment: dict[str, str], attempt: str, state_dir: str) -> dict[str, str]:
    """The environment with the marks by which the processes of an attempt are found."""
    return {**environment, ATTEMPT_VARIABLE: attempt, STATE_VARIABLE: state_dir}
