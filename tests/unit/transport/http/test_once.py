"""Making something once: it is looked for before it is made, and before it is made again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from whilly.adapters.memory.clock import ManualClock
from whilly.transport.http.client import HttpClient
from whilly.transport.http.once import make_once
from whilly.transport.http.refusal import Peer, Unanswered


class Shelf:
    """A place where things are made; `lost` answers are lost, `hidden` looks see nothing."""

    def __init__(self, *, there: int = 0, lost: int = 0, hidden: int = 0, is_done: bool = True) -> None:
        self.things, self.lost, self.hidden, self.is_done = there, lost, hidden, is_done
        self.acts: list[str] = []

    async def find(self) -> str | None:
        self.acts.append("find")
        if self.things and self.hidden:
            self.hidden -= 1
            return None
        return "thing" if self.things else None

    async def make(self) -> str | None:
        self.acts.append("make")
        self.things += self.is_done
        if self.lost:
            self.lost -= 1
            message = "no answer"
            raise Unanswered(message)
        return "thing"

    async def order(self) -> str:
        clock = ManualClock()

        async def wait(seconds: float) -> None:
            clock.advance(timedelta(seconds=seconds))
            self.acts.append("wait")

        async with HttpClient("http://127.0.0.1:9", {}, Peer("nobody"), clock=clock, sleep=wait) as http:
            return await make_once(http, self.find, self.make)


async def test_what_is_there_is_not_made() -> None:
    shelf = Shelf(there=1)
    assert (await shelf.order(), shelf.acts) == ("thing", ["find"])


async def test_what_is_not_there_is_made_once() -> None:
    shelf = Shelf()
    assert (await shelf.order(), shelf.acts) == ("thing", ["find", "make"])


async def test_after_a_lost_answer_it_is_looked_for_when_it_can_be_seen() -> None:
    shelf = Shelf(lost=1)
    assert (await shelf.order(), shelf.acts) == ("thing", ["find", "make", "wait", "find"])
    assert shelf.things == 1


async def test_what_was_lost_on_the_way_there_is_made_again() -> None:
    shelf = Shelf(lost=2, is_done=False)
    assert await shelf.order() == "thing"
    assert shelf.acts == ["find", "make", "wait", "find", "make", "wait", "find", "make"]


async def test_it_is_given_up_some_time() -> None:
    shelf = Shelf(lost=99, is_done=False)
    with pytest.raises(Unanswered, match="no answer"):
        await shelf.order()
    assert shelf.acts.count("make") == 4
