"""Group: a control group (version 2) of one sandbox, where this process may make one.

It limits all processes together, ends them at once, and says whether any is left. Where there is none, the limits of
single processes and a look at every second have to do.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.adapters.bubblewrap.order import Limits

PREFIX = "whilly-"
CONTROLLERS = ("memory", "pids")
_ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Group:
    """One control group.

    Attributes:
        folder: where it is.
        limits: the names of `CONTROLLERS` that hold in it.
    """

    folder: Path
    limits: frozenset[str] = frozenset()

    def restrict(self, limits: Limits) -> None:
        """Set what all of its processes together may use."""
        values = {
            "memory.max": limits.memory_mb * 2**20,
            "memory.swap.max": -1,
            "memory.oom.group": 1,
            "pids.max": limits.processes,
        }
        for name, value in values.items():
            with suppress(OSError):
                if value and name.partition(".")[0] in self.limits:
                    (self.folder / name).write_text(str(max(value, 0)), encoding="ascii")

    def enter(self) -> None:
        """Move this process into it; whatever it starts is in it, too.

        Raises:
            OSError: that is not allowed.
        """
        (self.folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def has_run_out_of_memory(self) -> bool:
        """Whether the kernel has ended it for want of memory."""
        lines = _read(self.folder / "memory.events").splitlines()
        return any(line.partition(" ")[0] == "oom_kill" and line.split()[-1] != "0" for line in lines)

    def kill(self) -> None:
        """End all of its processes at once."""
        with suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1", encoding="ascii")

    def members(self) -> list[int]:
        """The processes that are in it; zombies do not count."""
        return [int(line) for line in _read(self.folder / "cgroup.procs").split() if line.isdigit()]

    def remove(self) -> bool:
        """Take it away; false when a process is still in it."""
        try:
            self.folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True


def make_group(root: Path = _ROOT) -> Group | None:
    """A group for one sandbox, inside that of this process or of one around it; None where none can be made.

    The first place that can limit all is taken, else the first one at all: it still ends all processes together.
    """
    best: Group | None = None
    for parent in _places(root):
        made = _make_below(parent)
        if made is None:
            continue
        if len(made.limits) == len(CONTROLLERS):
            if best:
                best.remove()
            return made
        if best is None:
            best = made
        else:
            made.remove()
    return best


def describe_group() -> str:
    """What holds the limits of sandboxes on this machine, for people."""
    group = make_group()
    if group is None:
        return "each process by rlimits, all together by a look at every second; there is no control group to be had"
    group.remove()
    where = f"the control group {group.folder.parent}"
    if len(group.limits) == len(CONTROLLERS):
        return f"memory and processes by {where}, and it ends all of them at once"
    missing = " and ".join(sorted(set(CONTROLLERS) - group.limits))
    return (
        f"each process by rlimits, all together by a look at every second ({where} has no {missing}); "
        "it ends all of them at once"
    )


def _make_below(parent: Path) -> Group | None:
    """A group right below this one; what was left there by those that were killed goes."""
    _sweep(parent)
    # A number of ours, so that it can be told when nobody needs it any more.
    folder = parent / f"{PREFIX}{os.getpid()}-{time.monotonic_ns()}"
    wanted = [f"+{name}" for name in CONTROLLERS if name not in _words(parent / "cgroup.subtree_control")]
    for word in wanted:
        # Refused where processes are in the group itself, and where it does not have the controller.
        with suppress(OSError):
            (parent / "cgroup.subtree_control").write_text(word, encoding="ascii")
    try:
        folder.mkdir()
    except OSError:
        return None
    if not os.access(folder / "cgroup.procs", os.W_OK) or not os.access(parent / "cgroup.procs", os.W_OK):
        folder.rmdir()
        return None
    return Group(folder, frozenset(CONTROLLERS) & _words(folder / "cgroup.controllers"))


def _sweep(parent: Path) -> None:
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*-*"):
            owner = folder.name.removeprefix(PREFIX).partition("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                Group(folder).remove()


def _places(root: Path) -> Iterator[Path]:
    """This process's group and those around it, as far as they are seen here."""
    top = _find_mount(root)
    if top is None:
        return
    for line in _read(root / "proc/self/cgroup").splitlines():
        if line.startswith("0::"):
            group = top / line.removeprefix("0::").lstrip("/")
            while group != top and top in group.parents:
                if group.is_dir():
                    yield group
                group = group.parent
            yield top


def _find_mount(root: Path) -> Path | None:
    for line in _read(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            return root / before.split(" ")[4].lstrip("/")
    return None


def _words(path: Path) -> frozenset[str]:
    return frozenset(_read(path).split())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
