"""The contract of the Sessions port."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from whilly.domain.errors import NotFound
from whilly.domain.ids import AttemptId
from whilly.ports.sessions import SessionState
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.domain.session import Launch
    from whilly.ports.sessions import Sessions

FIRST, SECOND = AttemptId("run/1"), AttemptId("run/2")
LONG_S = 20.0


class SessionsRig(Protocol):
    """What the suite needs to know of the adapter under test."""

    sessions: Sessions

    def home(self, name: str) -> str:
        """The home of that name: the same one every time; it does not exist yet."""
        ...

    def launch(self, output: bytes = b"", *, code: int = 0, is_endless: bool = False) -> Launch:
        """A process that writes `output` and exits with `code`, or writes it and runs until it is ended."""
        ...

    def launch_missing(self) -> Launch:
        """A process whose program does not exist."""
        ...

    async def lose(self, home: str) -> None:
        """Make the running session in this home disappear without a word."""
        ...


class SessionsContract(ContractSuite):
    """Override the fixture `rig`; stop in it whatever still runs."""

    async def test_what_was_never_started_is_absent(self, rig: SessionsRig) -> None:
        assert await rig.sessions.find(rig.home("a")) is SessionState.ABSENT
        assert await rig.sessions.read(rig.home("a"), 0) == ([], 0)

    async def test_waiting_for_what_was_never_started_is_an_error(self, rig: SessionsRig) -> None:
        try:
            await rig.sessions.wait(rig.home("a"), 0.1)
        except NotFound:
            return
        raise AssertionError

    async def test_a_session_runs_to_its_end(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"one\ntwo\n", code=3))
        exit_ = await rig.sessions.wait(rig.home("a"), LONG_S)
        assert exit_ is not None
        assert (exit_.code, exit_.signal, exit_.cause) == (3, None, "")
        assert await rig.sessions.find(rig.home("a")) is SessionState.ENDED
        assert await rig.sessions.read(rig.home("a"), 0) == ([b"one", b"two"], 8)

    async def test_the_end_can_be_asked_for_again(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(code=4))
        first = await rig.sessions.wait(rig.home("a"), LONG_S)
        assert await rig.sessions.wait(rig.home("a"), 0) == first

    async def test_starting_again_starts_nothing(self, rig: SessionsRig) -> None:
        launch = rig.launch(b"once\n")
        await rig.sessions.start(FIRST, rig.home("a"), launch)
        await rig.sessions.start(FIRST, rig.home("a"), launch)
        await rig.sessions.wait(rig.home("a"), LONG_S)
        await rig.sessions.start(FIRST, rig.home("a"), launch)
        assert await rig.sessions.read(rig.home("a"), 0) == ([b"once"], 5)

    async def test_starting_twice_at_the_same_time_starts_one(self, rig: SessionsRig) -> None:
        launch = rig.launch(b"once\n")
        await asyncio.gather(*(rig.sessions.start(FIRST, rig.home("a"), launch) for _ in range(4)))
        await rig.sessions.wait(rig.home("a"), LONG_S)
        assert await rig.sessions.read(rig.home("a"), 0) == ([b"once"], 5)

    async def test_a_missing_program_is_said_every_time(self, rig: SessionsRig) -> None:
        for _ in range(2):
            try:
                await rig.sessions.start(FIRST, rig.home("a"), rig.launch_missing())
            except NotFound:
                continue
            raise AssertionError

    async def test_waiting_ends_while_the_session_goes_on(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(is_endless=True))
        assert await rig.sessions.wait(rig.home("a"), 0.05) is None
        assert await rig.sessions.find(rig.home("a")) is SessionState.RUNNING
        await rig.sessions.stop(rig.home("a"))

    async def test_a_stopped_session_says_so(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(is_endless=True))
        stopped = await rig.sessions.stop(rig.home("a"))
        assert stopped.cause == "stopped"
        assert await rig.sessions.find(rig.home("a")) is SessionState.ENDED
        assert await rig.sessions.wait(rig.home("a"), 0) == stopped
        assert await rig.sessions.stop(rig.home("a")) == stopped

    async def test_stopping_at_once_stops_too(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(is_endless=True))
        assert (await rig.sessions.stop(rig.home("a"), at_once=True)).cause == "stopped"

    async def test_whoever_waits_learns_of_a_stop(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(is_endless=True))
        waits = [asyncio.create_task(rig.sessions.wait(rig.home("a"), LONG_S)) for _ in range(2)]
        stopped = await rig.sessions.stop(rig.home("a"))
        assert await asyncio.gather(*waits) == [stopped, stopped]

    async def test_stopping_what_has_ended_changes_nothing(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(code=5))
        ended = await rig.sessions.wait(rig.home("a"), LONG_S)
        assert await rig.sessions.stop(rig.home("a")) == ended

    async def test_what_was_stopped_before_its_start_never_starts(self, rig: SessionsRig) -> None:
        assert (await rig.sessions.stop(rig.home("a"))).cause == "stopped"
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"never\n"))
        assert await rig.sessions.find(rig.home("a")) is SessionState.ENDED
        assert await rig.sessions.read(rig.home("a"), 0) == ([], 0)

    async def test_a_session_without_a_word_is_lost(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"one\n", is_endless=True))
        await rig.lose(rig.home("a"))
        assert await rig.sessions.find(rig.home("a")) is SessionState.LOST
        lost = await rig.sessions.wait(rig.home("a"), LONG_S)
        assert lost is not None
        assert (lost.code, lost.cause) == (None, "lost")
        assert await rig.sessions.stop(rig.home("a")) == lost

    async def test_a_lost_session_is_not_started_again(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(is_endless=True))
        await rig.lose(rig.home("a"))
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"again\n"))
        assert await rig.sessions.find(rig.home("a")) is SessionState.LOST
        await rig.sessions.stop(rig.home("a"))

    async def test_reading_goes_on_where_it_stopped(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"one\n\ntwo\n"))
        await rig.sessions.wait(rig.home("a"), LONG_S)
        assert await rig.sessions.read(rig.home("a"), 4) == ([b"", b"two"], 9)
        assert await rig.sessions.read(rig.home("a"), 9) == ([], 9)

    async def test_bytes_are_left_as_they_are(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"\xc3\n\xa9\x00\r\n\xff\r\r\n"))
        await rig.sessions.wait(rig.home("a"), LONG_S)
        assert await rig.sessions.read(rig.home("a"), 0) == ([b"\xc3", b"\xa9\x00", b"\xff\r"], 10)

    async def test_an_unfinished_line_waits_for_its_end(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(b"one\ntw", is_endless=True))
        assert await self._read_some(rig, rig.home("a")) == ([b"one"], 4)
        assert await rig.sessions.read(rig.home("a"), 4) == ([], 4)
        await rig.sessions.stop(rig.home("a"))
        assert await rig.sessions.read(rig.home("a"), 4) == ([b"tw"], 6)

    async def test_sweeping_ends_what_is_not_kept(self, rig: SessionsRig) -> None:
        await rig.sessions.start(FIRST, rig.home("a"), rig.launch(is_endless=True))
        await rig.sessions.start(SECOND, rig.home("b"), rig.launch(is_endless=True))
        swept = await rig.sessions.sweep([SECOND])
        assert swept
        assert all(FIRST in line for line in swept)
        assert await rig.sessions.find(rig.home("a")) is SessionState.ENDED
        assert await rig.sessions.find(rig.home("b")) is SessionState.RUNNING
        await rig.sessions.stop(rig.home("b"))
        assert await rig.sessions.sweep([]) == []

    async def _read_some(self, rig: SessionsRig, home: str) -> tuple[list[bytes], int]:
        found = await rig.sessions.read(home, 0)
        for _ in range(int(LONG_S / 0.01)):
            if found[0]:
                break
            await asyncio.sleep(0.01)
            found = await rig.sessions.read(home, 0)
        return found
