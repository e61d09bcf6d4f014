"""`python -m whilly` is the same as `whilly`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, which costs time to import."""


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End the process at once: nothing was begun, or everything is over."""
    os.write(2, b"whilly: interrupted\n")
    os._exit(INTERRUPTED)


def _handle(handler: Callable[[int, FrameType | None], Any]) -> None:
    """Ctrl-C and SIGTERM lead here, unless whoever started Whilly wants them to be ignored."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)


def run() -> int:
    """The whole process: what the command line says, and its exit code."""
    # What takes time is imported here, where signals are obeyed already.
    import gc  # noqa: PLC0415  (as above)

    # Hundreds of modules are loaded and stay: looking through them again and again costs 0.04 s of a start, and taking
    # them apart at the end 0.13 s.
    gc.set_threshold(20_000, 20, 50)
    from whilly.cli.main import main  # noqa: PLC0415  (as above)

    try:
        # From here on there may be something to tidy up.
        _handle(signal.default_int_handler)
        code = main()
        _handle(_leave)
    except KeyboardInterrupt:
        _leave(0, None)
    gc.freeze()
    return code


if __name__ == "__main__" or os.path.basename(sys.argv[0]).startswith("whilly"):  # noqa: PTH119  (`pathlib` costs time)
    # At once, not in `run`: a signal may come at any moment.
    _handle(_leave)

if __name__ == "__main__":
    sys.exit(run())
