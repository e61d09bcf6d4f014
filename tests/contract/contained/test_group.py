"""The control group of a sandbox: what it holds on this machine, and what it would be told on others."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from whilly.adapters.bubblewrap.group import PREFIX, Group, describe_group, make_group
from whilly.adapters.bubblewrap.order import Limits
from whilly.domain.confinement import Confinement
from whilly.domain.session import Launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox

GONE_S = 10.0
DAEMONS = "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP; sleep 600; :' & done; touch here; wait"


@pytest.fixture
def parent() -> Iterator[Path | None]:
    """Where groups are made here; None where they cannot be."""
    group = make_group()
    if group is not None:
        assert group.remove()
    yield group.folder.parent if group else None
    # What was killed is swept by whoever makes the next one; others may be at work beside this test.
    again = make_group()
    assert again is None or again.remove()
    left = group.folder.parent.glob(f"{PREFIX}*-*") if group else ()
    assert all(psutil.pid_exists(int(folder.name.split("-")[1])) for folder in left)


def wait_until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + GONE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def members(parent: Path | None, host: int) -> list[int]:
    """The processes in the group that this host has made."""
    folders = parent.glob(f"{PREFIX}{host}-*") if parent else ()
    return [pid for folder in folders for pid in Group(folder).members()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_no_process_is_left_in_the_group_within_ten_seconds(
    sandbox: BubblewrapSandbox, tmp_path: Path, parent: Path | None, number: int
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    launch = Launch(("/bin/sh", "-c", DAEMONS), cwd=str(tree), env={"PATH": "/usr/bin:/bin"})
    held = sandbox.contain(launch, Confinement("", writable=(str(tree),)))
    with subprocess.Popen(held.argv, cwd=held.cwd, env=dict(held.env), stdin=subprocess.DEVNULL) as host:
        assert wait_until((tree / "here").exists)
        inside = members(parent, host.pid)
        # bubblewrap twice, the shell, three times a shell with its sleep.
        assert len(inside) >= 6 if parent else not inside
        assert host.pid not in inside
        host.send_signal(number)
        host.wait(timeout=30)
    assert wait_until(lambda: not members(parent, host.pid))
    assert wait_until(lambda: not any(map(is_alive, inside)))


def test_what_holds_here_is_said(parent: Path | None) -> None:
    said = describe_group()
    assert str(parent) in said if parent else "no control group" in said
    controllers = (parent / "cgroup.controllers").read_text().split() if parent else []
    assert ("by rlimits" not in said) is ({"memory", "pids"} <= {*controllers})


def test_a_group_ends_all_of_its_processes_at_once(parent: Path | None) -> None:
    group = make_group()
    if group is None:
        assert parent is None
        return
    sleeper = subprocess.Popen(["/bin/sh", "-c", "read _"], stdin=subprocess.PIPE)
    with sleeper:
        (group.folder / "cgroup.procs").write_text(str(sleeper.pid))
        assert (group.members(), group.remove()) == ([sleeper.pid], False)
        group.kill()
        assert sleeper.wait(timeout=10) == -signal.SIGKILL
    assert wait_until(group.remove)


def test_limits_are_written_where_the_group_has_their_controllers(tmp_path: Path) -> None:
    limits = Limits(memory_mb=2, processes=7)
    Group(tmp_path, frozenset({"memory", "pids"})).restrict(limits)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "memory.max": str(2 * 2**20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "7",
    }
    other = tmp_path / "other"
    other.mkdir()
    Group(other, frozenset({"pids"})).restrict(Limits(memory_mb=2, processes=0))
    assert list(other.iterdir()) == []


def test_the_kernel_says_when_memory_was_the_cause(tmp_path: Path) -> None:
    group = Group(tmp_path)
    assert not group.has_run_out_of_memory()
    (tmp_path / "memory.events").write_text("max 12\noom 0\noom_kill 0\n")
    assert not group.has_run_out_of_memory()
    (tmp_path / "memory.events").write_text("max 12\noom 1\noom_kill 3\n")
    assert group.has_run_out_of_memory()


@pytest.mark.parametrize("mounts", ["", "1 1 0:1 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"])
def test_without_version_two_there_is_none(tmp_path: Path, mounts: str) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "mountinfo").write_text(mounts)
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/\n")
    assert make_group(tmp_path) is None


def test_a_hierarchy_that_cannot_be_written_gives_none(tmp_path: Path) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "mountinfo").write_text("1 1 0:1 / /groups rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/a/b\n")
    (tmp_path / "groups" / "a").mkdir(parents=True)
    # A plain directory stands for one: what is made in it is no group.
    assert make_group(tmp_path) is None
    assert not list((tmp_path / "groups").rglob(f"{PREFIX}*"))
