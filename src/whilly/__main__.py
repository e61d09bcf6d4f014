"""`python -m whilly` is the same as `whilly`."""

from __future__ import annotations

import gc
import sys

from whilly.cli.main import main


def run() -> int:
    """The whole process: what the command line says, and its exit code."""
    # Hundreds of modules are loaded and stay: looking through them again and again costs 0.04 s of a start, and taking
    # them apart at the end 0.13 s.
    gc.set_threshold(20_000, 20, 50)
    code = main()
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(run())
