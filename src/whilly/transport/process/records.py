"""The files of an attempt's home that its supervisor and Whilly share.

The supervisor loads this module, so it imports nothing that costs start-up time.
"""

from __future__ import annotations

import os

LOCK_FILE = "lock"
PID_FILE = "pid.json"
EXIT_FILE = "exit.json"
STDIN_FILE = "stdin"
OUTPUT_FILE = "events.jsonl"
ERROR_FILE = "stderr.log"
CONFINED_FILE = "confined.json"
"""What a sandbox's keeper leaves word of: the limit that was passed, what the gateway measured."""
HELD_FILE = "held.pid"
"""The process id, outside, of what a sandbox holds: the agent, which is not its supervisor's own child then."""
EGRESS_FILE = "egress.log"
"""What a sandbox's proxy has let through and denied, one line each."""

SUPERVISOR_VARIABLE = "WHILLY_SUPERVISOR"
"""Set to the home in a supervisor's own environment, and never in an agent's."""


def write_record(path: str, text: str, *, is_durable: bool = True) -> None:
    """Put a file in place, whole or not at all; only its owner can read it.

    `is_durable`: also over a power failure, at the price of a sync.

    Raises:
        OSError: it could not be written; the file is as it was.
    """
    # Two Whillys may prepare the same home at the same time; only one of them starts something there.
    temporary = f"{path}.{os.getpid()}.tmp"
    data = text.encode(errors="replace")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        while data:
            data = data[os.write(fd, data) :]
        if is_durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(temporary, path)


def render_exit(fields: dict[str, float | str | None]) -> str:
    """The text of `exit.json`. Strings must be plain words: they are not escaped."""
    return "{" + ", ".join(f'"{name}": {_render(value)}' for name, value in fields.items()) + "}\n"


def _render(value: float | str | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def has_file(path: str) -> bool:
    """Whether there is such a file."""
    return os.access(path, os.F_OK)


def read_text(path: str) -> str:
    """The first 64 KiB of a file; empty when it cannot be read.

    Reading fails as well as opening: a file in `/proc` goes with its process.
    """
    try:
        fd = os.open(path, os.O_RDONLY)
        try:
            return os.read(fd, 65536).decode(errors="replace")
        finally:
            os.close(fd)
    except OSError:
        return ""


def parse_start(stat: str) -> int:
    """The start time in a `/proc/PID/stat`, in clock ticks since the boot; 0 when there is none (proc(5))."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 else 0  # noqa: PLR2004 - the 22nd field, counted after the name
