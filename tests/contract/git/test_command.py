from __future__ import annotations

import asyncio
import os
import subprocess
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import psutil
import pytest

from whilly.adapters.git.command import Git
from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, PortError, Unavailable

if TYPE_CHECKING:
    from pathlib import Path


def shim(folder: Path, script: str) -> str:
    path = folder / "git-shim"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def make(folder: Path, script: str, seconds: float = 20) -> Git:
    async def pause(_seconds: float) -> None:
        return

    return Git(
        env={"PATH": os.defpath}, program=shim(folder, script), time_limit=timedelta(seconds=seconds), pause=pause
    )


@pytest.mark.parametrize(
    ("said", "error", "hint"),
    [
        ("fatal: write error: No space left on device", Unavailable, "disk"),
        ("error: unable to write file: Disk quota exceeded", Unavailable, "disk"),
        ("fatal: Unable to create '/r/.git/index.lock': File exists.", Unavailable, "remove /r/.git/index.lock"),
        ("fatal: Out of memory? mmap failed: Cannot allocate memory", Unavailable, ""),
        (
            "fatal: detected dubious ownership in repository at '/r'\\n\\tgit config --global --add safe.directory /r",
            NotAuthorized,
            "git config --global --add safe.directory /r",
        ),
        ("fatal: something else", BadResponse, ""),
    ],
)
async def test_a_failure_says_what_it_means_and_what_to_do(
    tmp_path: Path, said: str, error: type[PortError], hint: str
) -> None:
    git = make(tmp_path, f'printf "{said}" >&2; exit 128')
    with pytest.raises(error) as caught:
        await git.run(tmp_path, "commit-tree")
    assert hint in caught.value.remedy
    assert "git commit-tree failed (128)" in caught.value.message


async def test_a_lock_that_goes_away_is_waited_for(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"echo x >> {count}; [ $(wc -l < {count}) -ge 4 ] && echo done && exit 0\n"
    script += "echo \"error: cannot lock ref 'x': Unable to create '/r/refs/heads/x.lock': File exists.\" >&2; exit 1"
    assert (await make(tmp_path, script).run(tmp_path, "update-ref")).text == "done"


async def test_an_accepted_exit_code_does_not_hide_a_lock(tmp_path: Path) -> None:
    script = "echo \"fatal: Unable to create '/r/.git/packed-refs.lock': File exists.\" >&2; exit 128"
    with pytest.raises(Unavailable):
        await make(tmp_path, script).run(tmp_path, "update-ref", accept=(0, 128))


async def test_git_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no-git-here"):
        await Git(env={"PATH": os.defpath}, program="no-git-here").run(tmp_path, "version")


async def test_git_gets_an_environment_made_from_nothing(tmp_path: Path) -> None:
    answer = await make(tmp_path, "env").run(tmp_path, "x", env={"GIT_DIR": "/d"})
    names = {line.partition("=")[0] for line in answer.text.splitlines()} - {"PWD", "SHLVL", "_", "OLDPWD"}
    expected = {"PATH", "LC_ALL", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_EDITOR", "GIT_DIR"}
    assert names == expected


async def test_a_git_that_hangs_is_ended(tmp_path: Path) -> None:
    git = make(tmp_path, "exec sleep 60", seconds=0.5)
    started = time.monotonic()
    with pytest.raises(Unavailable, match="did not end within"):
        await git.run(tmp_path, "x")
    assert time.monotonic() - started < 15


async def test_a_cancelled_git_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    task = asyncio.create_task(
        make(tmp_path, f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 60").run(tmp_path, "x")
    )
    for _ in range(2000):
        if await asyncio.to_thread(pid.exists):
            break
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not psutil.pid_exists(int(await asyncio.to_thread(pid.read_text)))


async def test_much_input_and_output_pass(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    assert (await make(tmp_path, "cat").run(tmp_path, "x", stdin=data)).out == data


async def test_arguments_keep_their_bytes(tmp_path: Path) -> None:
    answer = await make(tmp_path, 'for last; do :; done; printf %s "$last"').run(tmp_path, "x", "caf\udce9 $(id)")
    assert answer.out == b"caf\xe9 $(id)"


def test_the_shims_of_this_file_run(tmp_path: Path) -> None:
    assert subprocess.run([shim(tmp_path, "exit 3")], check=False).returncode == 3


async def test_a_work_tree_that_is_being_added_meanwhile_is_waited_for(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"echo x >> {count}; [ $(wc -l < {count}) -ge 3 ] && exit 0\n"
    script += "echo 'fatal: failed to read .git/worktrees/c5/commondir: Success' >&2; exit 128"
    answer = await make(tmp_path, script).run(tmp_path, "worktree", accept=(0, 128))
    assert (answer.code, answer.is_repeated) == (0, True)
