"""What a sandbox costs beside the bare start of a process, and what a contained workspace costs beside a work tree.

`python benchmarks/sandbox.py [ROUNDS]`: medians and best of ROUNDS, in milliseconds, the variants run in turn.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox
from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.confinement import Confinement, ModelAccess
from whilly.domain.ids import AttemptId, RunId, attempt_id
from whilly.domain.secret import Secret
from whilly.domain.session import Launch
from whilly.testing.contained_world import ContainedWorld
from whilly.testing.git_world import GitWorld

TRUE = ("/bin/true",)


def measure_spawns(sandbox: BubblewrapSandbox, folder: Path, rounds: int) -> dict[str, list[float]]:
    bare = Launch(TRUE, cwd=str(folder), env={"PATH": os.defpath})
    access = ModelAccess("anthropic", "http://127.0.0.1:9", Secret("k"), Secret("t"), Decimal(1))
    reach = Confinement(home="", writable=(str(folder),))
    gated = Confinement(home="", writable=(str(folder),), hosts=("example.org",), model=access)
    bwrap = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", *TRUE)
    launches = {
        "bare": bare,
        "bwrap alone": Launch(bwrap, cwd=str(folder), env={"PATH": os.defpath}),
        "contained": sandbox.contain(bare, reach),
        "contained, with gateway": sandbox.contain(bare, gated),
    }
    taken: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(rounds):
        for name, launch in launches.items():
            began = time.perf_counter()
            subprocess.run(launch.argv, cwd=launch.cwd, env=dict(launch.env), stdin=subprocess.DEVNULL, check=True)
            taken[name].append(time.perf_counter() - began)
    return taken


async def measure_sessions(sandbox: BubblewrapSandbox, folder: Path, rounds: int) -> dict[str, list[float]]:
    sessions = ProcessSessions(str(folder / "state"))
    bare = Launch(TRUE, cwd=str(folder), env={"PATH": os.defpath})
    held = sandbox.contain(bare, Confinement(home="", writable=(str(folder),)))
    taken: dict[str, list[float]] = {"session, open": [], "session, contained": []}
    for number in range(rounds):
        for name, launch in zip(taken, (bare, held), strict=True):
            home = str(folder / "homes" / f"{name}-{number}")
            began = time.perf_counter()
            await sessions.start(AttemptId(f"{name}/{number}"), home, launch)
            assert (await sessions.wait(home, 60)) is not None
            taken[name].append(time.perf_counter() - began)
    return taken


async def measure_workspaces(sandbox: BubblewrapSandbox, folder: Path, rounds: int) -> dict[str, list[float]]:
    clock = ManualClock()
    worlds: dict[str, GitWorld | ContainedWorld] = {
        "open": GitWorld(folder / "open", clock),
        "contained": ContainedWorld(folder / "held", clock, sandbox),
    }
    files = {f"d{number % 20}/f{number}.txt": f"{number}\n" * 50 for number in range(400)}
    taken: dict[str, list[float]] = {}
    for tier, world in worlds.items():
        base = world.make_commit(files)
        for number in range(rounds):
            run, workspace = RunId(f"run-{number}"), world.workspace
            began = time.perf_counter()
            path = await workspace.open(run, f"w/{run}", base)
            opened = time.perf_counter()
            world.write(path, {"d1/new.txt": "new\n", "d2/f2.txt": "changed\n"})
            written = time.perf_counter()
            await workspace.save(run, attempt_id(run, 1), base)
            saved = time.perf_counter()
            await workspace.close(run, keep_branch=False)
            closed = time.perf_counter()
            for what, seconds in {"open": opened - began, "save": saved - written, "close": closed - saved}.items():
                taken.setdefault(f"workspace: {what}, {tier}", []).append(seconds)
    return taken


def main(rounds: int) -> None:
    sandbox = BubblewrapSandbox(os.defpath)
    with tempfile.TemporaryDirectory(prefix="whilly-bench-") as name:
        folder = Path(name)
        (folder / "tree").mkdir()
        taken = measure_spawns(sandbox, folder / "tree", rounds)
        taken |= asyncio.run(measure_sessions(sandbox, folder / "tree", rounds))
        taken |= asyncio.run(measure_workspaces(sandbox, folder, max(3, rounds // 3)))
    for what, seconds in taken.items():
        print(f"{what:32} median {statistics.median(seconds) * 1000:7.1f}   best {min(seconds) * 1000:7.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
