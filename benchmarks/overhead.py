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
    (home / "whilly.toml").write_text(f'[agent]\nname = "noop"\n\n[agents.noop]\nargv = {argv}\n', encoding="utf-8")
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


def report(count: int, floor: list[Cost], whilly: list[Cost]) -> None:
    def show(kind: str, bare: list[float], ours: list[float]) -> None:
        low, high = statistics.median(bare) / count * 1000, statistics.median(ours) / count * 1000
        print(f"{count:>6} {kind:>5} {low:>12.1f} {high:>12.1f} {high / low:>9.2f}", flush=True)

    show("wall", [cost.wall for cost in floor], [cost.wall for cost in whilly])
    show("cpu", [cost.cpu for cost in floor], [cost.cpu for cost in whilly])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also 1,000 tasks, once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parallel", type=int, default=4)
    options = parser.parse_args()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    print(f"{'tasks':>6} {'':>5} {'floor ms':>12} {'whilly ms':>12} {'ratio':>9}   (per task, median)", flush=True)
    for count in (1, 12, 100, *([1000] if options.full else [])):
        rounds = 1 if count >= 1000 else options.rounds
        pairs = [(run_floor(count, options.parallel), run_whilly(count, options.parallel)) for _ in range(rounds)]
        report(count, [floor for floor, _ in pairs], [whilly for _, whilly in pairs])


if __name__ == "__main__":
    main()
