"""Sandboxes by bubblewrap."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.bubblewrap.belongings import find_belongings, is_system
from whilly.adapters.bubblewrap.order import EGRESS_PORT, HOME, VARIABLE, Limits, Order, describe_gateway
from whilly.adapters.bubblewrap.probe import attack_sandbox
from whilly.adapters.bubblewrap.seccomp import MACHINES
from whilly.domain.errors import ConfigError
from whilly.ports.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.domain.confinement import Confinement, Proof
    from whilly.domain.session import Launch

FALLBACK_USER = "nobody"
USER = "whilly-agent"
_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_INSTALL = "apt install bubblewrap (dnf, pacman, apk: the same name)"


@final
class BubblewrapSandbox(Sandbox):
    """Bubblewrap of this machine.

    Args:
        path: a `PATH` to find it in.
        user: whom processes run as when Whilly is run by root: a name or a number; empty is `whilly-agent` if there is
            such a user, else `nobody`.
        readable: more paths that every process may read.
    """

    def __init__(
        self, path: str = os.defpath, *, user: str = "", readable: Sequence[str] = (), limits: Limits | None = None
    ) -> None:
        self._path = path
        self._user = user
        self._readable = tuple(readable)
        self._limits = limits or Limits()

    @override
    def contain(self, launch: Launch, confinement: Confinement) -> Launch:
        bwrap = self._require_bwrap()
        search = launch.env.get("PATH", self._path)
        program = self._find_program(launch, search)
        needs = [find_belongings(each, search) for each in (program, sys.executable, *launch.needs)]
        trees = [tree for each in needs for tree in each.trees]
        readable = [*self._readable, *trees, *confinement.readable]
        links = dict.fromkeys(pair for each in needs for pair in each.links)
        mounts = [("ro", path, path) for path in _outermost(readable)]
        mounts += [("link", target, place) for place, target in links]
        mounts += [("rw", path, path) for path in confinement.writable]
        searched = (*needs[0].folders, *search.split(os.pathsep))
        folders = [folder for folder in searched if _is_inside(folder, readable)]
        order = Order(
            bwrap=bwrap,
            home=confinement.home,
            cwd=launch.cwd,
            program=program,
            python=sys.executable,
            user=self.find_user(),
            mounts=tuple(mounts),
            env=_make_environment(launch.env, [*folders, *_PATH], confinement),
            limits=self._limits,
            hosts=confinement.hosts,
            gateway=describe_gateway(confinement.model),
            files=dict(launch.files),
        )
        argv = (sys.executable, "-I", "-m", "whilly.adapters.bubblewrap.host", "--", *launch.argv)
        env = {"PATH": search, VARIABLE: order.dump()}
        # A login that is linked to is a secret, and its temporary folder is the sandbox's own.
        return replace(launch, argv=argv, cwd="/", env=env, files={}, links={}, has_own_tmp=False, needs=())

    @override
    async def prove(self) -> Proof:
        return await asyncio.to_thread(attack_sandbox, self)

    def find_user(self) -> tuple[int, int] | None:
        """User and group id that processes run as; None when that is the caller's own.

        Raises:
            ConfigError: there is no such user, or it is root.
        """
        if os.geteuid() != 0:
            return None
        found = _look_up(self._user) if self._user else _look_up(USER) or _look_up(FALLBACK_USER)
        if found is None:
            message = f"there is no user {self._user or FALLBACK_USER!r} that agents could run as"
            raise ConfigError(message, remedy=f"useradd --system {USER}, or set contained.user")
        if found[0] == 0:
            message = "contained.user is root, whom no sandbox holds"
            raise ConfigError(message, remedy=f"useradd --system {USER}, and set contained.user = {USER!r}")
        return found

    def _require_bwrap(self) -> str:
        if sys.platform != "linux":
            message = f"there is no sandbox on {sys.platform}"
            raise ConfigError(message, remedy="run Whilly on Linux, or set agent.isolation = 'open'")
        if os.uname().machine not in MACHINES:
            message = f"there is no seccomp filter for {os.uname().machine}"
            raise ConfigError(message, remedy=f"use {' or '.join(MACHINES)}, or set agent.isolation = 'open'")
        found = shutil.which("bwrap", path=self._path)
        if found is None:
            message = "bubblewrap is not installed"
            raise ConfigError(message, remedy=_INSTALL)
        return found

    def _find_program(self, launch: Launch, search: str) -> str:
        name = launch.argv[0]
        found = str(Path(launch.cwd, name)) if "/" in name else shutil.which(name, path=search)
        if found is None:
            message = f"the program {name!r} is not there"
            raise ConfigError(message, remedy="install it, or correct the agent's command")
        return found


def _is_inside(folder: str, trees: Sequence[str]) -> bool:
    return any(Path(folder).is_relative_to(tree) for tree in trees)


def _outermost(paths: Sequence[str]) -> list[str]:
    """The paths that are neither the system's nor inside another one."""
    found = [path for path in dict.fromkeys(paths) if not is_system(Path(path))]
    return [path for path in found if not _is_inside(path, [other for other in found if other != path])]


def _look_up(name: str) -> tuple[int, int] | None:
    import pwd  # noqa: PLC0415  (not on Windows)

    try:
        entry = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    except KeyError:
        return (int(name), int(name)) if name.isdigit() else None
    return entry.pw_uid, entry.pw_gid


def _make_environment(env: Mapping[str, str], folders: Sequence[str], confinement: Confinement) -> dict[str, str]:
    made = {
        **env,
        "PATH": os.pathsep.join(dict.fromkeys(folders)),
        "HOME": HOME,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
    }
    if confinement.hosts:
        proxy = f"http://127.0.0.1:{EGRESS_PORT}"
        made |= dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), proxy)
        # Without it, calls to the gateway would go to the proxy, which refuses them.
        made |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,::1")
    return made
