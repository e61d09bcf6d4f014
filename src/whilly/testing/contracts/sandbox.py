"""The contract of the Sandbox port."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.domain.confinement import Confinement, Tier
from whilly.domain.errors import ConfigError
from whilly.domain.session import Launch
from whilly.testing.contracts.suite import ContractSuite
from whilly.transport.process.agent_tree import PR_SET_CHILD_SUBREAPER, call_prctl

if TYPE_CHECKING:
    from whilly.ports.sandbox import Sandbox

_PATH = "/usr/local/bin:/usr/bin:/bin"
_LIMIT_S = 60.0
_END_S = 10.0


class SandboxContract(ContractSuite):
    """Override the fixtures `sandbox` and `tree`: a directory that the process may write."""

    def start(self, sandbox: Sandbox, tree: str, *argv: str, readable: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        launch = Launch(argv, cwd=tree, env={"PATH": _PATH, "LANG": "C.UTF-8", "MARK": "seen"})
        held = sandbox.contain(launch, Confinement(home="", writable=(tree,), readable=readable))
        pipe = subprocess.PIPE
        return subprocess.Popen(held.argv, cwd=held.cwd, env=dict(held.env), stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603  (the suite's own words)

    def run(
        self, sandbox: Sandbox, tree: str, script: str, stdin: bytes = b"", readable: tuple[str, ...] = ()
    ) -> tuple[int, str, str]:
        with self.start(sandbox, tree, "/bin/sh", "-c", script, readable=readable) as process:
            out, err = process.communicate(stdin, _LIMIT_S)
        return process.returncode, out.decode(), err.decode()

    def test_output_input_and_exit_code_pass_through(self, sandbox: Sandbox, tree: str) -> None:
        assert self.run(sandbox, tree, "cat; echo oops >&2; exit 3", b"given\n") == (3, "given\n", "oops\n")

    def test_a_signal_that_ends_it_is_told_as_a_shell_tells_it(self, sandbox: Sandbox, tree: str) -> None:
        assert self.run(sandbox, tree, "kill -KILL $$")[0] == 128 + signal.SIGKILL

    def test_large_output_passes_whole(self, sandbox: Sandbox, tree: str) -> None:
        code, out, _ = self.run(sandbox, tree, "head -c 3000000 /dev/zero | tr '\\0' x")
        assert (code, len(out)) == (0, 3_000_000)

    def test_it_works_in_its_directory_and_what_it_writes_stays(self, sandbox: Sandbox, tree: str) -> None:
        assert self.run(sandbox, tree, "pwd && echo made > made") == (0, f"{tree}\n", "")
        assert Path(tree, "made").read_text(encoding="utf-8") == "made\n"

    def test_its_environment_is_what_it_was_given(self, sandbox: Sandbox, tree: str) -> None:
        _, out, _ = self.run(sandbox, tree, "env")
        found = dict(line.split("=", 1) for line in out.splitlines())
        assert (found.pop("MARK"), found.pop("LANG")) == ("seen", "C.UTF-8")
        assert set(found) <= {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD"}

    def test_its_home_is_empty_and_its_own(self, sandbox: Sandbox, tree: str) -> None:
        code, out, _ = self.run(sandbox, tree, 'ls -A "$HOME" && touch "$HOME/mine"')
        assert (code, out) == (0, "")
        assert self.run(sandbox, tree, 'ls -A "$HOME"') == (0, "", "")

    def test_what_is_readable_cannot_be_changed(self, sandbox: Sandbox, tree: str, tmp_path: Path) -> None:
        given = tmp_path / "given"
        given.write_text("text\n", encoding="utf-8")
        given.chmod(0o666)
        script = f"cat {given} && echo more >> {given}"
        code, out, _ = self.run(sandbox, tree, script, readable=(str(given),))
        assert (code != 0, out, given.read_text(encoding="utf-8")) == (True, "text\n", "text\n")

    def test_nothing_else_of_the_host_is_seen(self, sandbox: Sandbox, tree: str, tmp_path: Path) -> None:
        hidden = tmp_path / "hidden"
        hidden.write_text("secret\n", encoding="utf-8")
        hidden.chmod(0o666)
        assert self.run(sandbox, tree, f"test ! -e {hidden}")[0] == 0

    def test_a_request_to_end_reaches_the_process(self, sandbox: Sandbox, tree: str) -> None:
        script = "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
        with self.start(sandbox, tree, "/bin/sh", "-c", script) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(_LIMIT_S) == 9
            assert process.stdout.read() == b"bye\n"

    def test_what_it_started_ends_with_it(self, sandbox: Sandbox, tree: str) -> None:
        script = "setsid sh -c 'trap \"\" TERM HUP; touch started; while :; do sleep 0.05; done' >/dev/null 2>&1 & "
        script += "until [ -e started ]; do sleep 0.02; done; echo done"
        assert self.run(sandbox, tree, script) == (0, "done\n", "")
        assert _find_working_in(tree) == []

    def test_nothing_of_it_is_left_for_others_to_collect(self, sandbox: Sandbox, tree: str) -> None:
        # What it left behind would become a child of this process.
        if not call_prctl(PR_SET_CHILD_SUBREAPER, 1):
            return
        try:
            assert self.run(sandbox, tree, "sleep 600 & exit 0")[0] == 0
            with pytest.raises(ChildProcessError):
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        finally:
            call_prctl(PR_SET_CHILD_SUBREAPER, 0)

    def test_killing_it_ends_everything_in_it(self, sandbox: Sandbox, tree: str) -> None:
        with self.start(sandbox, tree, "/bin/sh", "-c", "setsid sleep 600 & echo ready; wait") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            process.kill()
            assert process.stdout.read() == b""
        # The kernel ends them one after the other.
        deadline = time.monotonic() + _END_S
        while _find_working_in(tree) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert _find_working_in(tree) == []

    def test_a_program_that_is_not_there_is_an_error(self, sandbox: Sandbox, tree: str) -> None:
        launch = Launch(("no-such-program-at-all",), cwd=tree, env={"PATH": _PATH})
        with pytest.raises(ConfigError):
            sandbox.contain(launch, Confinement(home="", writable=(tree,)))

    def test_the_python_of_this_process_works_in_it(self, sandbox: Sandbox, tree: str) -> None:
        with self.start(sandbox, tree, sys.executable, "-c", "import ssl, sqlite3; print('works')") as process:
            assert process.communicate(timeout=_LIMIT_S)[0] == b"works\n"

    async def test_it_withstands_the_attack(self, sandbox: Sandbox) -> None:
        proof = await sandbox.prove()
        assert (proof.tier, proof.escapes, proof.problem) == (Tier.CONTAINED, (), "")
        assert len(proof.denied) > 20


def _find_working_in(folder: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.path.realpath(entry / "cwd") == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
