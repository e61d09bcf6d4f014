"""The command line of bubblewrap for an order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.bubblewrap import boot
from whilly.adapters.bubblewrap.belongings import SYSTEM
from whilly.adapters.bubblewrap.order import HOME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.bubblewrap.order import Limits, Order

ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "fonts", "java-11-openjdk", "java-17-openjdk",
    "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types", "node",
    "pki", "profile", "protocols", "python3", "python3.11", "python3.12", "python3.13", "services", "ssl", "terminfo",
    "timezone",
)  # fmt: skip
"""What of `/etc` is shown: nothing that says who or where this machine is."""
_HOSTS = "127.0.0.1 localhost\n::1 localhost\n"
_NAMES = "hosts: files\npasswd: files\ngroup: files\n"


def synthetic_files(user: tuple[int, int]) -> Mapping[str, str]:
    """Files of `/etc` that are made up: place → content."""
    uid, gid = user
    return {
        "/etc/passwd": f"agent:x:{uid}:{gid}:agent:{HOME}:/bin/sh\n",
        "/etc/group": f"agent:x:{gid}:\n",
        "/etc/hosts": _HOSTS,
        "/etc/nsswitch.conf": _NAMES,
        "/etc/gitconfig": "[safe]\n\tdirectory = *\n",
    }


def build_arguments(
    order: Order, sources: Mapping[str, str], files: Mapping[str, int], channel: int, filter_: int
) -> list[str]:
    """The whole command line. The environment is bubblewrap's own: anybody on the machine can read a command line.

    Args:
        order: what is to be held.
        sources: where the source of a mount is to be taken from, for those that are staged.
        files: place in the sandbox → descriptor of its content.
        channel: descriptor that `boot` talks to the host by.
        filter_: descriptor of the seccomp filter.
    """
    words = [order.bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    words += ["--hostname", "agent"]
    words += _system()
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(2**30), "--tmpfs", "/tmp"]  # noqa: S108  (of the sandbox)
    words += ["--perms", "0700", "--size", str(2**29), "--tmpfs", HOME]
    for place, descriptor in files.items():
        words += ["--perms", "0644", "--file", str(descriptor), place]
    for kind, source, place in order.mounts:
        option = {"ro": "--ro-bind", "rw": "--bind", "link": "--symlink"}[kind]
        words += [option, source if kind == "link" else sources.get(source, source), place]
    words += ["--chdir", order.cwd, "--remount-ro", "/", "--seccomp", str(filter_), "--"]
    text = Path(boot.__file__).read_text(encoding="utf-8")
    ports = ",".join(map(str, order.ports))
    return [*words, order.python, "-I", "-S", "-c", text, str(channel), ports, render_limits(order.limits)]


def render_limits(limits: Limits) -> str:
    """As `boot` takes them."""
    mega = 2**20
    wanted = {
        "DATA": limits.memory_mb * mega,
        "NPROC": limits.processes,
        "FSIZE": limits.file_mb * mega,
    }
    return ",".join(["CORE=0", *(f"{name}={value}" for name, value in wanted.items() if value)])


def _system() -> list[str]:
    words = []
    for folder in map(Path, SYSTEM):
        if folder.is_symlink():
            words += ["--symlink", os.readlink(folder), str(folder)]  # noqa: PTH115  (the text as it stands)
        elif folder.is_dir():
            words += ["--ro-bind", str(folder), str(folder)]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return words
