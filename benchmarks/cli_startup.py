"""What the start of the command line costs, beside the bare libraries it cannot do without.

    python benchmarks/cli_startup.py [ROUNDS]

Prints the CPU seconds (user and system, median of the rounds) of each command and its ratio to `import click`.
The goal for `whilly --help` is 0.25 s.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import click": ("-c", "import click"),
    "whilly --help": ("-m", "whilly", "--help"),
    "whilly --version": ("-m", "whilly", "--version"),
    "whilly config get": ("-m", "whilly", "config", "get", "run.parallel"),
}
YARDSTICK = "import click"


def measure(arguments: tuple[str, ...]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main(rounds: int) -> None:
    for arguments in COMMANDS.values():
        measure(arguments)
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, arguments in COMMANDS.items():
            taken[name].append(measure(arguments))
    medians = {name: statistics.median(values) for name, values in taken.items()}
    rows = {
        name: {"cpu_s": round(median, 3), "ratio": round(median / medians[YARDSTICK], 2)}
        for name, median in medians.items()
    }
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
