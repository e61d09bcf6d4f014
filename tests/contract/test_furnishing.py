"""What an agent is given beside its command line is there when it starts, and its temporary folder goes with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.errors import PortError
from whilly.domain.ids import AttemptId
from whilly.domain.session import Exit, Launch
from whilly.transport.process.furnishing import find_tmp

if TYPE_CHECKING:
    from pathlib import Path

ATTEMPT = AttemptId("run-1/1")
SCRIPT = 'cat "$1" "$2"; echo left > "$TMPDIR/left"; echo "$TMPDIR"'


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    (tmp_path / "login").write_text("secret\n")
    settings, login = (str(tmp_path / "shared" / name) for name in ("settings.json", "login"))
    return Launch(
        argv=("/bin/sh", "-c", SCRIPT, "sh", settings, login),
        cwd=str(tmp_path),
        env={"PATH": "/usr/bin:/bin", "TMPDIR": "/nowhere"},
        files={settings: "é\n"},
        links={login: str(tmp_path / "login"), str(tmp_path / "shared" / "none"): str(tmp_path / "missing")},
        has_own_tmp=True,
    )


async def run(sessions: ProcessSessions, home: Path, launch: Launch) -> list[str]:
    await sessions.start(ATTEMPT, str(home), launch)
    exit_ = None
    while exit_ is None:
        exit_ = await sessions.wait(str(home), 10)
    assert exit_ == Exit(0), exit_.stderr_tail
    lines, _ = await sessions.read(str(home), 0)
    return [line.decode().strip() for line in lines]


async def test_files_links_and_a_temporary_folder_are_there_and_the_folder_goes(launch: Launch, tmp_path: Path) -> None:
    home = tmp_path / "attempts" / "1"
    said = await run(ProcessSessions(str(tmp_path)), home, launch)
    assert said == ["é", "secret", str(find_tmp(str(home)))]
    assert not find_tmp(str(home)).exists()
    assert not (tmp_path / "shared" / "none").is_symlink()


async def test_the_next_attempt_finds_them_again(launch: Launch, tmp_path: Path) -> None:
    sessions = ProcessSessions(str(tmp_path))
    first = await run(sessions, tmp_path / "attempts" / "1", launch)
    second = await run(sessions, tmp_path / "attempts" / "2", launch)
    assert (first[:2] == second[:2], first[2] == second[2]) == (True, False)


async def test_what_cannot_be_written_is_an_error_before_anything_starts(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("no folder")
    with pytest.raises(PortError):
        await ProcessSessions(str(tmp_path)).start(ATTEMPT, str(tmp_path / "a"), replace(launch, links={}))
    assert not (tmp_path / "a" / "pid.json").exists()
