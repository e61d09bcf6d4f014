from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import final

import pytest
from typing_extensions import override

from whilly.adapters.bubblewrap import attack
from whilly.adapters.bubblewrap.order import VARIABLE, Limits
from whilly.adapters.bubblewrap.probe import attack_sandbox
from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox
from whilly.domain.confinement import Confinement, Proof, Tier
from whilly.domain.errors import ConfigError
from whilly.domain.session import Launch
from whilly.ports.sandbox import Sandbox
from whilly.testing.contracts import SandboxContract

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
PATH = "/usr/local/bin:/usr/bin:/bin"
SMALL = Limits(memory_mb=256, processes=40, file_mb=8, disk_mb=24)


@pytest.fixture
def tree(tmp_path: Path) -> str:
    folder = tmp_path / "tree"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def small(bubblewrap: str) -> BubblewrapSandbox:
    return BubblewrapSandbox(bubblewrap, limits=SMALL)


class TestBubblewrapSandbox(SandboxContract):
    pass


def run(
    sandbox: Sandbox, tree: str, *argv: str, home: str = "", seconds: float = 60
) -> subprocess.CompletedProcess[bytes]:
    held = sandbox.contain(Launch(argv, cwd=tree, env={"PATH": PATH}), Confinement(home=home, writable=(tree,)))
    return subprocess.run(
        held.argv,
        cwd=held.cwd,
        env=dict(held.env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=seconds,
    )


def python(sandbox: Sandbox, tree: str, text: str, home: str = "") -> subprocess.CompletedProcess[bytes]:
    return run(sandbox, tree, sys.executable, "-I", "-S", "-c", text, home=home)


# Limits: bad input 39.


def test_a_fork_bomb_is_held_and_ends(small: BubblewrapSandbox, tree: str) -> None:
    text = """
import os, sys
made = 0
try:
    while made < 5000:
        if os.fork() == 0:
            os.setsid()
            import time
            time.sleep(600)
        made += 1
except OSError:
    pass
print(made)
"""
    began = time.monotonic()
    ended = python(small, tree, text)
    assert ended.returncode == 0
    assert 5 < int(ended.stdout) <= 40
    assert time.monotonic() - began < 30


def test_a_process_gets_no_more_memory_than_allowed(small: BubblewrapSandbox, tree: str) -> None:
    ended = python(small, tree, "x = bytearray(10 * 2**30)")
    assert (ended.returncode, b"MemoryError" in ended.stderr) == (1, True)


def test_many_processes_together_get_no_more_memory_than_one(
    small: BubblewrapSandbox, tree: str, tmp_path: Path
) -> None:
    text = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        x = bytearray(os.urandom(1)) * (120 * 2**20)
        time.sleep(600)
time.sleep(600)
"""
    ended = python(small, tree, text, home=str(tmp_path))
    assert ended.returncode == 128 + signal.SIGKILL
    assert json.loads((tmp_path / "confined.json").read_text()) == {"cause": "memory"}


def test_a_file_does_not_grow_past_the_limit(small: BubblewrapSandbox, tree: str) -> None:
    ended = run(small, tree, "/bin/sh", "-c", "head -c 10000000000 /dev/zero > big; ls -l big | cut -d' ' -f5")
    assert int(ended.stdout) <= 8 * 2**20


def test_many_files_do_not_fill_the_disk(small: BubblewrapSandbox, tree: str, tmp_path: Path) -> None:
    script = "i=0; while :; do i=$((i+1)); [ $i -lt 60 ] && head -c 1000000 /dev/zero > f$i || sleep 0.05; done"
    ended = run(small, tree, "/bin/sh", "-c", script, home=str(tmp_path))
    assert ended.returncode == 128 + signal.SIGKILL
    assert json.loads((tmp_path / "confined.json").read_text()) == {"cause": "disk"}


def test_the_temporary_directory_is_bounded(bubblewrap: str, tree: str) -> None:
    roomy = BubblewrapSandbox(bubblewrap, limits=replace(SMALL, file_mb=0))
    ended = run(roomy, tree, "/bin/sh", "-c", "head -c 3000000000 /dev/zero > /tmp/big")
    assert ended.returncode != 0
    assert b"No space left" in ended.stderr


# What the attack proves.


@final
class OpenSandbox(Sandbox):
    """Holds nothing."""

    @override
    def contain(self, launch: Launch, confinement: Confinement) -> Launch:
        return launch

    @override
    async def prove(self) -> Proof:
        return attack_sandbox(self)


@pytest.mark.usefixtures("bubblewrap")
async def test_the_attack_succeeds_where_nothing_holds() -> None:
    proof = await OpenSandbox().prove()
    assert proof.tier is Tier.OPEN
    always = {
        "read a secret file",
        "list the home directory",
        "read other processes' environments",
        "write into another tree",
        "connect to the host's loopback",
        "connect to an abstract socket",
        "connect to a socket file",
        "signal a process of the host",
        "write into the shared objects",
        "outlive the agent",
    }
    of_root = {"open core_pattern for writing", "write into the system", "be root on the host", "mount"}
    assert always | (of_root if IS_ROOT else set()) <= set(proof.escapes)


def test_every_attack_is_tried_and_answered(sandbox: BubblewrapSandbox) -> None:
    proof = attack_sandbox(sandbox)
    assert {*attack.ATTACKS} <= {*proof.denied}


async def test_without_bubblewrap_the_remedy_is_said(tmp_path: Path) -> None:
    proof = await BubblewrapSandbox(str(tmp_path)).prove()
    assert (proof.tier, proof.problem) == (Tier.OPEN, "bubblewrap is not installed")
    assert "apt install bubblewrap" in proof.remedy


async def test_a_bubblewrap_that_fails_proves_nothing(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    tmp_path.chmod(0o755)
    proof = await BubblewrapSandbox(f"{tmp_path}:{PATH}").prove()
    assert proof.tier is Tier.OPEN
    assert "the sandbox cannot be made here" in proof.problem
    assert "userns" in proof.remedy


@pytest.mark.skipif(not IS_ROOT, reason="only root may choose another user")
class TestUser:
    def test_root_is_refused(self, bubblewrap: str, tree: str) -> None:
        with pytest.raises(ConfigError, match="root"):
            run(BubblewrapSandbox(bubblewrap, user="root"), tree, "/bin/true")

    def test_one_that_does_not_exist_is_refused(self, bubblewrap: str, tree: str) -> None:
        with pytest.raises(ConfigError, match="no-such-user"):
            run(BubblewrapSandbox(bubblewrap, user="no-such-user"), tree, "/bin/true")

    def test_files_belong_to_the_one_that_was_chosen(self, bubblewrap: str, tree: str) -> None:
        assert run(BubblewrapSandbox(bubblewrap, user="61234"), tree, "touch", "made").returncode == 0
        assert Path(tree, "made").stat().st_uid == 61234

    def test_links_in_the_tree_do_not_lead_its_change_of_owner_astray(
        self, bubblewrap: str, tree: str, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.write_text("mine\n", encoding="utf-8")
        Path(tree, "link").symlink_to(outside)
        Path(tree, "folder").symlink_to(tmp_path)
        assert run(BubblewrapSandbox(bubblewrap, user="61234"), tree, "/bin/true").returncode == 0
        assert (outside.stat().st_uid, tmp_path.stat().st_uid) == (0, 0)


# Secrets.


def test_neither_command_lines_nor_files_hold_the_environment(sandbox: BubblewrapSandbox, tree: str) -> None:
    launch = Launch(("/bin/sh", "-c", "echo ready; cat"), cwd=tree, env={"PATH": PATH, "PASSWORD": "opensesame"})
    held = sandbox.contain(launch, Confinement(home="", writable=(tree,)))
    assert "opensesame" not in str(held.argv)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        held.argv, cwd=held.cwd, env=dict(held.env), stdin=subprocess.DEVNULL, stdout=pipe
    ) as process:
        lines = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    lines.append((entry / "cmdline").read_bytes())
                except OSError:
                    continue
        process.communicate(timeout=60)
    assert not any(b"opensesame" in line for line in lines)


def test_the_order_is_not_in_the_environment_of_what_is_held(sandbox: BubblewrapSandbox, tree: str) -> None:
    text = """
import os
from pathlib import Path
for path in Path("/proc").iterdir():
    if path.name.isdigit():
        try:
            print((path / "environ").read_bytes())
        except OSError:
            pass
"""
    assert VARIABLE.encode() not in python(sandbox, tree, text).stdout
