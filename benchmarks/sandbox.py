"""What a sandbox costs beside the bare start of a process, and what a contained workspace costs beside a work tree.

`python benchmarks/sandbox.py [ROUNDS]`: medians and best of ROUNDS, in milliseconds, processor time with them where
processes are started, and how many times the first of a group a median is. The variants of a group take turns, so that
the ratios are those of one run, whatever else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from whilly.adapters.bubblewrap.group import describe_group
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


@dataclass(slots=True)
class Taken:
    """What one variant took, in seconds, round by round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


Group = dict[str, Taken]
"""The variants of one thing, the one that the others are compared with first."""


def measure_spawns(sandbox: BubblewrapSandbox, folder: Path, rounds: int) -> Group:
    bare = Launch(TRUE, cwd=str(folder), env={"PATH": os.defpath})
    access = ModelAccess("anthropic", "http://127.0.0.1:9", Secret("k"), Secret("t"), Decimal(1))
    reach = Confinement(home="", writable=(str(folder),))
    gated = Confinement(home="", writable=(str(folder),), hosts=("example.org",), model=access)
    bwrap = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", *TRUE)
    python = (sys.executable, "-I", "-c", "pass")
    launches = {
        "bare": bare,
        "bare Python": Launch(python, cwd=str(folder), env={"PATH": os.defpath}),
        "bwrap alone": Launch(bwrap, cwd=str(folder), env={"PATH": os.defpath}),
        "contained": sandbox.contain(bare, reach),
        "contained, with gateway": sandbox.contain(bare, gated),
    }
    taken = {name: Taken() for name in launches}
    for _ in range(rounds):
        for name, launch in launches.items():
            began, used = time.perf_counter(), children_cpu()
            subprocess.run(launch.argv, cwd=launch.cwd, env=dict(launch.env), stdin=subprocess.DEVNULL, check=True)
            taken[name].wall.append(time.perf_counter() - began)
            taken[name].cpu.append(children_cpu() - used)
    return taken


def children_cpu() -> float:
    """Seconds of processor time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def measure_sessions(sandbox: BubblewrapSandbox, folder: Path, rounds: int) -> Group:
    sessions = ProcessSessions(str(folder / "state"))
    bare = Launch(TRUE, cwd=str(folder), env={"PATH": os.defpath})
    held = sandbox.contain(bare, Confinement(home="", writable=(str(folder),)))
    taken = {"session, open": Taken(), "session, contained": Taken()}
    for number in range(rounds):
        for name, launch in zip(taken, (bare, held), strict=True):
            home = str(folder / "homes" / f"{name}-{number}")
            began = time.perf_counter()
            await sessions.start(AttemptId(f"{name}/{number}"), home, launch)
            assert (await sessions.wait(home, 60)) is not None
            taken[name].wall.append(time.perf_counter() - began)
    return taken


async def measure_workspaces(sandbox: BubblewrapSandbox, folder: Path, rounds: int) -> list[Group]:
    clock = ManualClock()
    worlds: dict[str, GitWorld | ContainedWorld] = {
        "open": GitWorld(folder / "open", clock),
        "contained": ContainedWorld(folder / "held", clock, sandbox),
    }
    files = {f"d{number % 20}/f{number}.txt": f"{number}\n" * 50 for number in range(400)}
    bases = {tier: world.make_commit(files) for tier, world in worlds.items()}
    groups = {what: {f"{what}, {tier}": Taken() for tier in worlds} for what in ("open", "save", "close")}
    for number in range(rounds):
        for tier, world in worlds.items():
            run, workspace, base = RunId(f"run-{number}"), world.workspace, bases[tier]
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
                groups[what][f"{what}, {tier}"].wall.append(seconds)
    return list(groups.values())


def main(rounds: int) -> None:
    sandbox = BubblewrapSandbox(os.defpath)
    with tempfile.TemporaryDirectory(prefix="whilly-bench-") as name:
        folder = Path(name)
        (folder / "tree").mkdir()
        groups = [measure_spawns(sandbox, folder / "tree", rounds)]
        groups.append(asyncio.run(measure_sessions(sandbox, folder / "tree", rounds)))
        groups += asyncio.run(measure_workspaces(sandbox, folder, max(3, rounds // 3)))
    load = "/".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{rounds} rounds, load {load}, {os.cpu_count()} processors; {describe_group()}")
    print(f"{'':28}{'median':>9}{'best':>9}{'cpu':>9}{'times':>8}")
    for group in groups:
        first = statistics.median(next(iter(group.values())).wall)
        for what, taken in group.items():
            median, best = statistics.median(taken.wall), min(taken.wall)
            cpu = f"{statistics.median(taken.cpu) * 1000:9.1f}" if taken.cpu else f"{'':9}"
            print(f"{what:28}{median * 1000:9.1f}{best * 1000:9.1f}{cpu}{median / first:8.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
