"""What Whilly costs per task against bare git: the same no-op agent, the same machine, alternating in one run.

`python benchmarks/overhead.py [--full] [--rounds N] [--parallel N]`

The floor is `floor.sh`: worktree, agent, commit, rebase, fast-forward, remove, in sh, with the
`flock` of util-linux. CPU is user + system time of everything that was started, detached processes included (on Linux;
elsewhere of what was waited for). A run with one task is shown apart, as the fixed cost of a start.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOOP = """\
#!/bin/sh
# The no-op agent: one new file, named after its work tree, and the promise that it is done.
echo done > "done-$(basename "$PWD").txt"
echo '<promise>COMPLETE</promise>'
"""
SETTINGS = """\
[machine]
guarded = false  # the floor does not look at the machine's load either
[agent]
name = "noop"
[agents.noop]
argv = {argv}
"""
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER in linux/prctl.h


@dataclass(frozen=True)
class Cost:
    """Seconds that a command took: by the clock, and of the processors."""

    wall: float
    cpu: float


def measure(command: list[str], cwd: Path) -> Cost:
    """Run a command to its end, and everything that it leaves behind to theirs."""
    started = time.perf_counter()
    child = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    assert child.stderr is not None
    complaint = child.stderr.read().decode(errors="replace")
    child.stderr.close()
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit code {child.returncode}\n{complaint[-2000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime + reap_orphans())


def reap_orphans() -> float:
    """CPU seconds of detached processes, which come to us when their parents have ended."""
    seconds = 0.0
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def make_repository(home: Path, count: int) -> None:
    """A repository with one file, a plan of independent tasks, and the no-op agent in its settings."""
    agent = home.parent / "noop.sh"
    agent.write_text(NOOP, encoding="utf-8")
    home.mkdir()
    tasks = [{"id": f"T{n}", "status": "pending", "description": f"no-op {n}", "priority": "low"} for n in range(count)]
    (home / "tasks.json").write_text(json.dumps({"project": "bench", "tasks": tasks}), encoding="utf-8")
    argv = json.dumps(["sh", str(agent)])
    (home / "whilly.toml").write_text(SETTINGS.format(argv=argv), encoding="utf-8")
    (home / "README.md").write_text("# bench\n", encoding="utf-8")
    for command in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@example.invalid"],
        ["add", "--all"],
        ["commit", "--quiet", "--message", "start"],
        ["branch", "floor"],
    ):
        subprocess.run(["git", *command], cwd=home, check=True)


def run_floor(count: int, parallel: int) -> Cost:
    with tempfile.TemporaryDirectory(prefix="whilly-bench-") as scratch:
        home = Path(scratch) / "repository"
        make_repository(home, count)
        floor = [str(HERE / "floor.sh"), str(home), str(count), str(parallel), str(home.parent / "noop.sh")]
        cost = measure(["sh", *floor], home)
        require_commits(home, "floor", count)
        return cost


def run_whilly(count: int, parallel: int) -> Cost:
    with tempfile.TemporaryDirectory(prefix="whilly-bench-") as scratch:
        home = Path(scratch) / "repository"
        make_repository(home, count)
        command = [sys.executable, "-m", "whilly", "run", "tasks.json", "--parallel", str(parallel), "--headless"]
        cost = measure(command, home)
        require_commits(home, "--branches", count)
        return cost


def require_commits(home: Path, ref: str, count: int) -> None:
    """A benchmark of work that was not done is worth nothing."""
    listed = subprocess.run(["git", "log", "--format=%s", "main..", ref], cwd=home, check=True, capture_output=True)
    found = len(listed.stdout.splitlines())
    if found < count:
        sys.exit(f"only {found} of {count} tasks have a commit on {ref}")


def take_medians(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


def report(count: int, floor: Cost, whilly: Cost, start: Cost) -> None:
    """One line each for wall and CPU: milliseconds per task, and the ratios with and without what a start costs."""

    def show(kind: str, bare: float, ours: float, fixed: float) -> None:
        after = (ours - fixed) / (count - 1)
        numbers = f"{bare / count * 1000:>10.1f} {ours / count * 1000:>10.1f} {ours / bare:>7.2f}"
        print(f"{count:>6} {kind:>5} {numbers} {after * 1000:>12.1f} {after / (bare / count):>7.2f}", flush=True)

    show("wall", floor.wall, whilly.wall, start.wall)
    show("cpu", floor.cpu, whilly.cpu, start.cpu)


def compare(count: int, parallel: int, rounds: int) -> tuple[Cost, Cost]:
    """Medians of the floor and of Whilly, measured in turns."""
    pairs = [(run_floor(count, parallel), run_whilly(count, parallel)) for _ in range(rounds)]
    return take_medians([floor for floor, _ in pairs]), take_medians([whilly for _, whilly in pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also 1,000 tasks, once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parallel", type=int, default=4)
    options = parser.parse_args()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    floor, start = compare(1, options.parallel, options.rounds)
    print(f"one task, milliseconds: floor {floor.wall * 1000:.0f} wall, {floor.cpu * 1000:.0f} CPU; ", end="")
    print(f"whilly, start and end included, {start.wall * 1000:.0f} wall, {start.cpu * 1000:.0f} CPU")
    print("Milliseconds per task, medians; the last two columns leave out what a run with one task costs:")
    print(
        f"{'tasks':>6} {'':>5} {'floor':>10} {'whilly':>10} {'ratio':>7} {'after start':>12} {'ratio':>7}", flush=True
    )
    for count in (12, 100, *([1000] if options.full else [])):
        floor, whilly = compare(count, options.parallel, 1 if count >= 1000 else options.rounds)
        report(count, floor, whilly, start)


if __name__ == "__main__":
    main()
