from __future__ import annotations

import json

import pytest

from whilly.adapters.memory.sessions import MemorySessions, Play
from whilly.domain.errors import NotFound
from whilly.domain.ids import AttemptId
from whilly.domain.session import Exit, Launch
from whilly.ports.sessions import Sessions, SessionState
from whilly.testing.contracts import SessionsContract, SessionsRig


def play(_attempt: AttemptId, launch: Launch) -> Play:
    """Play what the command line says, as JSON: output, exit code or nothing for an endless one."""
    if launch.argv[0] != "play":
        message = f"there is no program {launch.argv[0]}"
        raise NotFound(message)
    output, code = json.loads(launch.argv[1])
    return Play(bytes.fromhex(output), None if code is None else Exit(code=code))


class MemoryRig:
    def __init__(self) -> None:
        self.memory = MemorySessions(play)
        self.sessions: Sessions = self.memory

    def home(self, name: str) -> str:
        return f"/homes/{name}"

    def launch(self, output: bytes = b"", *, code: int = 0, is_endless: bool = False) -> Launch:
        return Launch(("play", json.dumps([output.hex(), None if is_endless else code])), "/")

    def launch_missing(self) -> Launch:
        return Launch(("no-such-program",), "/")

    async def lose(self, home: str) -> None:
        self.memory.lose(home)


class TestMemorySessions(SessionsContract):
    @pytest.fixture
    def rig(self) -> SessionsRig:
        return MemoryRig()


async def test_a_play_goes_on_until_it_is_finished() -> None:
    sessions = MemorySessions(lambda _attempt, _launch: Play(exit=None))
    await sessions.start(AttemptId("run/1"), "/homes/a", Launch(("agent",), "/"))
    sessions.write("/homes/a", b"one\n")
    assert await sessions.read("/homes/a", 0) == ([b"one"], 4)
    sessions.finish("/homes/a", Exit(code=7))
    assert await sessions.find("/homes/a") is SessionState.ENDED
    assert sessions.started == ["run/1"]
