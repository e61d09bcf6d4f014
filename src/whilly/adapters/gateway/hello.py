"""The name that a TLS client says it wants (RFC 8446, 4.1.2; RFC 6066, 3)."""

from __future__ import annotations

import struct

_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME = 22, 1, 0
MAX_HELLO = 18 * 1024


def find_server_name(data: bytes) -> str | None:
    """The name in a ClientHello; empty when it has none, None when more bytes are needed.

    Raises:
        ValueError: this is no ClientHello.
    """
    if data[:1] not in {b"", bytes([_HANDSHAKE])}:
        message = "no TLS"
        raise ValueError(message)
    if len(data) < 5 or len(data) < 5 + struct.unpack("!H", data[3:5])[0]:  # noqa: PLR2004  (a record's head)
        return None
    try:
        return _read_hello(data[5:])
    except (struct.error, IndexError) as error:
        message = "no ClientHello"
        raise ValueError(message) from error


def _read_hello(data: bytes) -> str:
    if data[0] != _CLIENT_HELLO:
        message = "no ClientHello"
        raise ValueError(message)
    place = 4 + 2 + 32
    place += 1 + data[place]
    place += 2 + struct.unpack_from("!H", data, place)[0]
    place += 1 + data[place]
    end = place + 2 + struct.unpack_from("!H", data, place)[0]
    place += 2
    while place < end:
        kind, size = struct.unpack_from("!HH", data, place)
        if kind == _SERVER_NAME:
            (length,) = struct.unpack_from("!H", data, place + 7)
            return data[place + 9 : place + 9 + length].decode("ascii", "replace").lower()
        place += 4 + size
    return ""
