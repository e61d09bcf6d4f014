"""The first program inside the sandbox. It runs by itself (`python -I -S -c TEXT`), so it needs nothing but Python.

It lowers the limits, opens the ports at which the process will find the gateway, hands them to the host through the
one descriptor that it was given, waits for the word to go on, and turns into the process. The ports belong to the
sandbox's own network, their listeners to the host: no part of Whilly keeps running inside.
"""

from __future__ import annotations

import os
import sys

if sys.platform != "win32":
    import _socket
    import resource
    import struct

REFUSED = 127
"""Exit code when the program cannot be run, as a shell has it."""


def main(arguments: list[str]) -> None:
    """DESCRIPTOR, PORT,… or nothing, NAME=LIMIT,…, program, its argv."""
    descriptor, ports, limits, program, *command = arguments
    channel = _socket.socket(fileno=int(descriptor))
    for name, _, value in (pair.partition("=") for pair in limits.split(",") if pair):
        number = getattr(resource, f"RLIMIT_{name}")
        resource.setrlimit(number, (int(value), int(value)))
    listeners = [_listen(int(port)) for port in ports.split(",") if port]
    passed = struct.pack(f"{len(listeners)}i", *(listener.fileno() for listener in listeners))
    channel.sendmsg([b"here"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)] if listeners else [])
    if channel.recv(1) != b"g":
        os._exit(REFUSED)
    channel.close()
    for listener in listeners:
        listener.close()
    try:
        os.execv(program, command)  # noqa: S606  (no shell, on purpose)
    except OSError as error:
        sys.stderr.write(f"{program} cannot be run in the sandbox: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(REFUSED)


def _listen(port: int) -> _socket.socket:
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


if __name__ == "__main__":
    main(sys.argv[1:])
