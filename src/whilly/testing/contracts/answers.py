"""What an adapter that speaks HTTP makes of answers that are JSON, and not what was asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from whilly.domain.errors import BadResponse
from whilly.testing.contracts.forge import BRANCH, ForgeRig, make_draft
from whilly.testing.contracts.suite import ContractSuite
from whilly.testing.forges.faults import Fault, Kind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from whilly.domain.forge.reference import IssueRef
    from whilly.ports.tracker import Tracker
    from whilly.testing.forges.wire import WireServer

KEY = "r-1/answers"


class AnswersRig(Protocol):
    """A tracker and the server that it speaks to."""

    @property
    def tracker(self) -> Tracker:
        """The adapter under test, with the token of `bot`."""
        ...

    @property
    def server(self) -> WireServer:
        """Its server."""
        ...

    def file(self, title: str, body: str, by: str = "writer", labels: Sequence[str] = ()) -> IssueRef:
        """Have somebody file an issue."""
        ...

    def say(self, ref: IssueRef, by: str, text: str) -> None:
        """Have somebody comment."""
        ...


class AnswersContract(ContractSuite):
    """Override the fixture `rig`."""

    async def test_json_of_another_shape_is_a_bad_response(self, rig: AnswersRig) -> None:
        ref = rig.file("One", "Text")
        rig.say(ref, "writer", "a comment")

        async def read() -> None:
            await rig.tracker.fetch_issue(ref)
            await rig.tracker.fetch_account()

        refused, taken = await _break_each(rig, "GET", Kind.MISSHAPEN, read)
        assert (bool(refused), taken) == (True, [])

    async def test_what_was_made_and_comes_in_another_shape_is_a_bad_response(self, rig: AnswersRig) -> None:
        ref = rig.file("One", "Text")

        async def write() -> None:
            await rig.tracker.comment(ref, f"{KEY}/{len(rig.server.requests)}", "Hello")

        refused, taken = await _break_each(rig, "POST", Kind.MISSHAPEN, write)
        assert (bool(refused), taken) == (True, [])

    async def test_an_empty_object_is_no_issue(self, rig: AnswersRig) -> None:
        ref = rig.file("One", "Text")

        async def read() -> None:
            issue = await rig.tracker.fetch_issue(ref)
            assert (issue.title, issue.body.strip(), issue.ref) == ("One", "Text", ref)
            assert (await rig.tracker.fetch_account()).id

        refused, _ = await _break_each(rig, "GET", Kind.EMPTIED, read)
        assert refused


class PullAnswersRig(ForgeRig, Protocol):
    """A forge and the server that it speaks to."""

    @property
    def server(self) -> WireServer:
        """Its server."""
        ...


class PullAnswersContract(ContractSuite):
    """The same for pull requests; override the fixture `rig`."""

    async def test_a_pull_request_in_another_shape_is_a_bad_response(self, rig: PullAnswersRig) -> None:
        rig.push(BRANCH, {"a.txt": "a\n"})
        pull = await rig.forge.open_pull_request(make_draft(rig))

        async def read() -> None:
            await rig.forge.fetch_pull_request(pull.ref)
            await rig.forge.fetch_push_access(rig.repository)

        refused, taken = await _break_each(rig, "GET", Kind.MISSHAPEN, read)
        assert (bool(refused), taken) == (True, [])


async def _break_each(
    rig: AnswersRig | PullAnswersRig, method: str, kind: Kind, act: Callable[[], Awaitable[None]]
) -> tuple[list[str], list[str]]:
    """Have each request of an act answered wrongly, one at a time: those that end it as they should, and the others."""
    refused: list[str] = []
    taken: list[str] = []
    while True:
        known = "|".join(re.escape(path) for path in (*refused, *taken))
        fault = Fault(kind, method, f"^(?!(?:{known})$)" if known else "")
        rig.server.faults = [fault]
        begun = len(rig.server.requests)
        try:
            await act()
        except BadResponse:
            told = refused
        else:
            told = taken
        if fault.times:
            return refused, taken
        new = [each.partition(" ")[2] for each in rig.server.requests[begun:] if each.startswith(f"{method} ")]
        told.append(next(path for path in new if path not in {*refused, *taken}))
