"""The system calls that the sandbox refuses, as a program for the kernel (classic BPF, seccomp(2)).

Everything else is allowed: agents run compilers, browsers and test suites. What is refused are doors into the kernel
that such work does not need, new namespaces, and kinds of sockets that a network namespace does not hold.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in `struct seccomp_data`; the low half of an argument comes first on both machines."""
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000
_NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (asked for the list of interfaces)."""

# Numbers of the kernel's tables: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h. From 424
# on they are the same everywhere.
_EVERYWHERE = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
}  # fmt: skip
_X86_64 = {
    "syslog": 103, "pivot_root": 155, "chroot": 161, "acct": 163, "mount": 165, "umount2": 166, "swapon": 167,
    "swapoff": 168, "reboot": 169, "init_module": 175, "delete_module": 176, "quotactl": 179, "kexec_load": 246,
    "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
    "open_by_handle_at": 304, "setns": 308, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323,
}  # fmt: skip
_AARCH64 = {
    "syslog": 116, "pivot_root": 41, "chroot": 51, "acct": 89, "mount": 40, "umount2": 39, "swapon": 224,
    "swapoff": 225, "reboot": 142, "init_module": 105, "delete_module": 106, "quotactl": 60, "kexec_load": 104,
    "add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241,
    "open_by_handle_at": 265, "setns": 268, "finit_module": 273, "kexec_file_load": 294, "bpf": 280,
    "userfaultfd": 282,
}  # fmt: skip
_CLONE3 = 435


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int
    socket: int
    clone: int
    refused: dict[str, int]


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 41, 56, _X86_64 | _EVERYWHERE),
    "aarch64": _Machine(0xC00000B7, 198, 220, _AARCH64 | _EVERYWHERE),
}
MACHINES = tuple(_MACHINES)
"""The machines, as `uname -m` says, that there is a filter for."""


def build_filter(machine: str) -> bytes:
    """The filter for this machine.

    Raises:
        KeyError: there is none.
    """
    about = _MACHINES[machine]
    code = [
        _load(_ARCHITECTURE),
        _jump(_JUMP_EQUAL, about.audit, 1, 0),
        _return(_KILL),
        _load(_NUMBER),
        # x32 has numbers of its own for the same calls.
        _jump(_JUMP_AT_LEAST, _X32, 0, 1),
        _return(_KILL),
    ]
    for number in sorted(about.refused.values()):
        code += [_jump(_JUMP_EQUAL, number, 0, 1), _return(_ERROR | errno.EPERM)]
    # Its flags are behind a pointer, where no filter can look; without it, libraries use clone.
    code += [_jump(_JUMP_EQUAL, _CLONE3, 0, 1), _return(_ERROR | errno.ENOSYS)]
    code += [_jump(_JUMP_EQUAL, about.clone, 0, 3), _load(_FIRST_ARGUMENT), _jump(_JUMP_SET, _NAMESPACES, 0, 1)]
    code += [_return(_ERROR | errno.EPERM), _load(_NUMBER)]
    families = [_jump(_JUMP_EQUAL, family, len(_FAMILIES) - place, 0) for place, family in enumerate(_FAMILIES)]
    code += [_jump(_JUMP_EQUAL, about.socket, 0, len(families) + 2), _load(_FIRST_ARGUMENT), *families]
    code += [_return(_ERROR | errno.EAFNOSUPPORT), _return(_ALLOW)]
    return b"".join(code)


def _load(offset: int) -> bytes:
    return struct.pack("<HBBI", _LOAD, 0, 0, offset)


def _jump(kind: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("<HBBI", kind, if_true, if_false, value)


def _return(answer: int) -> bytes:
    return struct.pack("<HBBI", _RETURN, 0, 0, answer)
