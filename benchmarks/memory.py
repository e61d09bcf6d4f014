"""Memory of the engine while 50 agents are alive and do nothing: `python benchmarks/memory.py [--agents N]`.

Prints the resident set of the engine's process, and apart from it that of the processes that hold the agents, which
stay when the engine is gone. Shared pages count in each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

SETTINGS = """\
[machine]
guarded = false
[agent]
name = "waiter"
first_output_s = 0
[agents.waiter]
argv = {argv}
"""
WAITER = """\
#!/bin/sh
# An agent that lives until it is released, then does a no-op task.
echo here > "{home}/here-$(basename "$PWD")"
while [ ! -f "{home}/release" ]; do sleep 0.5; done
echo done > "done-$(basename "$PWD").txt"
echo '<promise>COMPLETE</promise>'
"""
PATIENCE = 180.0


def make_repository(scratch: Path, count: int) -> Path:
    """A repository with as many independent tasks as there will be agents."""
    home = scratch / "repository"
    home.mkdir()
    (scratch / "waiter.sh").write_text(WAITER.format(home=scratch), encoding="utf-8")
    tasks = [{"id": f"T{n}", "status": "pending", "description": f"wait {n}", "priority": "low"} for n in range(count)]
    (home / "tasks.json").write_text(json.dumps({"project": "bench", "tasks": tasks}), encoding="utf-8")
    argv = json.dumps(["sh", str(scratch / "waiter.sh")])
    (home / "whilly.toml").write_text(SETTINGS.format(argv=argv), encoding="utf-8")
    for command in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@example.invalid"],
        ["add", "--all"],
        ["commit", "--quiet", "--message", "start"],
    ):
        subprocess.run(["git", *command], cwd=home, check=True)
    return home


def wait_for_agents(scratch: Path, count: int, engine: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(list(scratch.glob("here-*"))) < count:
        if engine.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"only {len(list(scratch.glob('here-*')))} of {count} agents came up")
        time.sleep(0.2)


def find_holders(home: Path, engine: int) -> list[psutil.Process]:
    """The processes of the agents: those whose command line or directory is in the repository's `.whilly`."""
    found = []
    for process in psutil.process_iter():
        try:
            where = f"{process.cwd()} {' '.join(process.cmdline())}"
        except psutil.Error:
            continue
        if process.pid != engine and str(home / ".whilly") in where:
            found.append(process)
    return found


def measure(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="whilly-bench-") as folder:
        scratch = Path(folder)
        home = make_repository(scratch, count)
        command = [sys.executable, "-m", "whilly", "run", "tasks.json", "--parallel", str(count), "--headless"]
        with subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL) as engine:
            wait_for_agents(scratch, count, engine)
            time.sleep(5)  # what a start allocates for a moment is gone by then
            rss = psutil.Process(engine.pid).memory_info().rss
            holders = find_holders(home, engine.pid)
            held = sum(process.memory_info().rss for process in holders if process.is_running())
            (scratch / "release").touch()
            code = engine.wait(timeout=PATIENCE)
        print(f"engine with {count} live agents: {rss / 2**20:.0f} MiB")
        print(
            f"{len(holders)} processes that hold them: {held / 2**20:.0f} MiB, {held / count / 2**20:.1f} MiB per agent"
        )
        print(f"exit code of the run: {code}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=50)
    measure(parser.parse_args().agents)


if __name__ == "__main__":
    main()
