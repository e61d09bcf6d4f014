"""Kill Whilly at every point of its life and at random moments; go on; say what was lost, doubled or left.

    python scripts/crash_matrix.py [--kills N] [--seed S] [--jobs J] [--keep]

Every point is passed once; the rest of the N kills are at random: at later passings and at any moment.
Ends with 1 when anything was wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from whilly.testing.crash.matrix import every_point, measure, play, render, sample


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="how many; at least once at every point")
    parser.add_argument("--seed", type=int, default=None, help="of the random kills; printed, to be repeated")
    parser.add_argument("--jobs", type=int, default=2, help="cases at the same time")
    parser.add_argument("--keep", action="store_true", help="keep the repositories")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else time.time_ns() % 10**6
    folder = Path(tempfile.mkdtemp(prefix="whilly-crash-"))
    counts, seconds = measure(folder / "undisturbed")
    kills = every_point()
    kills += sample(counts, seconds, max(0, options.kills - len(kills)), seed)
    undisturbed = f"{sum(counts.values())} passings in {seconds:.1f} s"
    print(f"{len(kills)} cases, seed {seed}; undisturbed: {undisturbed}", flush=True)
    verdicts = []
    for verdict in play(kills, folder, options.jobs):
        verdicts.append(verdict)
        mark = "✗" if verdict.faults else "✓"
        print(f"{mark} {len(verdicts):>4}/{len(kills)} {verdict.name}", flush=True)
    print(render(verdicts))
    if not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return int(any(verdict.faults for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
