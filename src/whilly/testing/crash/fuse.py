"""`whilly`, with a fuse: `python -m whilly.testing.crash.fuse LOG POINT:N -- ARGUMENTS…`.

The process kills itself as `kill -9` would, when it passes the point for the n-th time; `-` as the point is never.
Every passing is a line in LOG: the point and the machine's monotonic clock.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from typing import final

from whilly.cli.main import main


@final
class Fuse:
    """A checkpoint that ends the process.

    Args:
        log: file to which every passing is appended.
        point: where to end it; empty is nowhere.
        number: at which passing of the point.
    """

    def __init__(self, log: str, point: str, number: int) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._point = point
        self._number = number
        self._passed: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, name: str) -> None:
        """The moment `name` has come."""
        with self._lock:
            self._passed[name] += 1
            os.write(self._log, f"{name} {time.monotonic():.4f}\n".encode())
            if name == self._point and self._passed[name] == self._number:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    log_file, where, _, *words = sys.argv[1:]
    name, _, times = where.rpartition(":") if where != "-" else ("", "", "0")
    sys.exit(main(words, Fuse(log_file, name, int(times))))
