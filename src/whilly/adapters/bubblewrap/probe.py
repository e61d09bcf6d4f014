"""The attack on this machine's sandbox, prepared, run and judged."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.bubblewrap import attack
from whilly.adapters.bubblewrap.group import describe_group
from whilly.domain.confinement import Confinement, Proof, Tier
from whilly.domain.errors import ConfigError
from whilly.domain.session import Launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whilly.ports.sandbox import Sandbox

TIME_LIMIT_S = 60.0
_OUTLIVE = "outlive the agent"
_ROOT = "be root on the host"
_LEGITIMATE = "work in its own tree"
_REMEDY = (
    "let users make user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container: --security-opt seccomp=unconfined), "
    "or set agent.isolation = 'open'"
)
_WORK = "git init -q . && echo 1 >a && git add -A && git -c user.name=a -c user.email=a@b commit -qm a"


def attack_sandbox(sandbox: Sandbox) -> Proof:
    """Run every attack inside the sandbox."""
    try:
        with _make_canaries() as canaries:
            return _judge(sandbox, canaries)
    except ConfigError as error:
        return Proof(Tier.OPEN, problem=error.message, remedy=error.remedy)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Proof(Tier.OPEN, problem=f"the sandbox could not be tried: {error}", remedy=_REMEDY)


def _judge(sandbox: Sandbox, canaries: Mapping[str, str]) -> Proof:
    text = Path(attack.__file__).read_text(encoding="utf-8")
    argv = (sys.executable, "-I", "-S", "-c", text, json.dumps(dict(canaries)))
    ended = _run(sandbox, argv, canaries)
    try:
        said = {str(name): str(why) for name, why in json.loads(ended.stdout.splitlines()[0]).items()}
    except (ValueError, IndexError, AttributeError):
        told = (ended.stderr or ended.stdout).decode(errors="replace").strip()[-300:]
        return Proof(Tier.OPEN, problem=f"the sandbox cannot be made here: {told}", remedy=_REMEDY)
    escapes = {name for name in attack.ATTACKS if not said.get(name)}
    if not Path(f"/proc/{canaries['victim']}").exists() or _is_zombie(canaries["victim"]):
        escapes.add("signal a process of the host")
    if left := _find(canaries["daemon"]):
        escapes.add(_OUTLIVE)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    worked = _run(sandbox, ("/bin/sh", "-c", _WORK), canaries)
    if worked.returncode != 0:
        told = worked.stderr.decode(errors="replace").strip()[-300:]
        return Proof(Tier.OPEN, problem=f"an agent could not {_LEGITIMATE}: {told}", remedy=_REMEDY)
    if Path(canaries["tree"], "a").stat().st_uid == 0:
        escapes.add(_ROOT)
    denied = (*attack.ATTACKS, _OUTLIVE, _ROOT)
    tier = Tier.OPEN if escapes else Tier.CONTAINED
    stopped = tuple(name for name in denied if name not in escapes)
    return Proof(tier, stopped, tuple(sorted(escapes)), limits=describe_group())


def _run(sandbox: Sandbox, argv: tuple[str, ...], canaries: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    reach = Confinement(home="", writable=(canaries["tree"],), readable=(canaries["shared"],))
    path = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))
    held = sandbox.contain(Launch(argv, cwd=canaries["tree"], env={"PATH": path, "LANG": "C.UTF-8"}), reach)
    return subprocess.run(  # noqa: S603  (our own program, no shell)
        held.argv,
        cwd=held.cwd,
        env=dict(held.env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=TIME_LIMIT_S,
    )


@contextmanager
def _make_canaries() -> Iterator[Mapping[str, str]]:
    """Things of the host that must not be reached, for as long as the attack lasts."""
    folder = Path(tempfile.mkdtemp(prefix="whilly-probe-"))
    marker = secrets.token_hex(16)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for name in ("tree", "other", "shared", "home"):
            (folder / name).mkdir()
        secret = folder / "home" / "id_ed25519"
        secret.write_text(marker, encoding="utf-8")
        secret.chmod(0o600)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{marker}")
        abstract.listen()
        file = stack.enter_context(socket.socket(socket.AF_UNIX))
        file.bind(str(folder / "socket"))
        file.listen()
        victim = stack.enter_context(_make_victim(marker))
        yield {
            "marker": marker,
            "secret": str(secret),
            "secret_name": secret.name,
            "home": str(folder / "home"),
            "tree": str(folder / "tree"),
            "other": str(folder / "other"),
            "shared": str(folder / "shared"),
            "port": str(listener.getsockname()[1]),
            "abstract": marker,
            "socket": str(folder / "socket"),
            "victim": str(victim.pid),
            "daemon": f"whilly-{marker}",
        }


@contextmanager
def _make_victim(marker: str) -> Iterator[subprocess.Popen[bytes]]:
    words = ["/bin/sh", "-c", "read _"]
    with subprocess.Popen(words, env={"WHILLY_PROBE": marker}, stdin=subprocess.PIPE) as victim:  # noqa: S603  (fixed words)
        try:
            yield victim
        finally:
            victim.kill()


def _is_zombie(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _find(mark: str) -> list[int]:
    """The processes that have this word at the end of their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().endswith(f"\0{mark}\0".encode()):
                found.append(int(entry.name))
    return found
