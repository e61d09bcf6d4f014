"""The host's part of one sandbox: a program that stands between a supervisor and bubblewrap.

It is started in place of the process that is to be held (`python -I -m whilly.adapters.bubblewrap.host -- ARGV`), with
the order in its environment. It gives up root, starts bubblewrap, serves the gateway on ports that exist inside only,
passes output and signals on, ends everything when a limit is passed, and ends with the process's own exit code. When
it is killed, the kernel kills bubblewrap, and with it every process inside.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from whilly.adapters.bubblewrap.group import make_group
from whilly.adapters.bubblewrap.keeper import Keeper
from whilly.adapters.bubblewrap.order import VARIABLE, parse_order
from whilly.adapters.bubblewrap.profile import build_arguments, synthetic_files
from whilly.adapters.bubblewrap.seccomp import build_filter
from whilly.adapters.bubblewrap.staging import adopt_orphans, become, end_with_parent, give_away, stage

if TYPE_CHECKING:
    from whilly.adapters.bubblewrap.group import Group
    from whilly.adapters.bubblewrap.order import Order

FAILED = 126
"""Exit code when the sandbox could not be made."""


def main(argv: list[str]) -> int:
    """Hold one process; its exit code."""
    # Taken out, so that no process started from here has it.
    order = parse_order(os.environ.pop(VARIABLE))  # noqa: TID251  (a program of its own: this is how it is told)
    try:
        if order.user is not None:
            for kind, source, _place in order.mounts:
                if kind == "rw":
                    give_away(source, order.user)
        adopt_orphans()
        group = make_group()
        if group is not None:
            group.restrict(order.limits)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        out, err = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_bubblewrap(order, argv, theirs, (out[1], err[1]), group)
    except OSError as error:
        _complain(error)
        return FAILED
    theirs.close()
    os.close(out[1])
    os.close(err[1])
    return asyncio.run(Keeper(order, pid, ours, (out[0], err[0]), group).keep())


def _become_bubblewrap(
    order: Order, argv: list[str], channel: socket.socket, output: tuple[int, int], group: Group | None
) -> None:
    """In the forked child: turn into bubblewrap, or say why not."""
    try:
        if group is not None:
            with suppress(OSError):
                group.enter()
        os.dup2(_copy_input(), 0)
        os.dup2(output[0], 1)
        os.dup2(output[1], 2)
        made = {**synthetic_files(order.user or _self()), **order.files}
        files = {place: _hold(text.encode()) for place, text in made.items()}
        filter_ = _hold(build_filter(os.uname().machine))
        channel.set_inheritable(True)
        places = stage(source for kind, source, _ in order.mounts if kind != "link") if order.user else {}
        words = build_arguments(order, places, files, channel.fileno(), filter_)
        if order.user:
            become(order.user)
        end_with_parent(signal.SIGKILL)
        os.umask(0o022)
        os.execve(order.bwrap, [*words, order.program, *argv], order.env)  # noqa: S606  (no shell, on purpose)
    except (OSError, KeyError) as error:
        _complain(error)
    finally:
        os._exit(FAILED)


def _copy_input() -> int:
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return 0
    # Not the file itself: through /proc/self/fd a process could open it anew, for writing.
    copy = os.memfd_create("input")
    while data := os.read(0, 2**20):
        while data:
            data = data[os.write(copy, data) :]
    os.lseek(copy, 0, os.SEEK_SET)
    return copy


def _hold(content: bytes) -> int:
    descriptor = os.memfd_create("whilly", 0)
    while content:
        content = content[os.write(descriptor, content) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _self() -> tuple[int, int]:
    return os.getuid(), os.getgid()


def _complain(error: Exception) -> None:
    os.write(2, f"the sandbox cannot be made: {error}\n".encode(errors="replace"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
