"""Hand-offs in memory and as files; and what people, bots and attackers may put into those files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.handoff.handoffs import FileHandoffs
from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.memory.handoffs import MemoryHandoffs
from whilly.domain.errors import RuleViolation, Unavailable
from whilly.domain.handoff import AnswerStatus, HandoffState, name_handoff
from whilly.domain.ids import AttemptId
from whilly.testing.contracts import HandoffsContract, HandoffsRig
from whilly.testing.contracts.handoffs import DONE, FIRST, make_handoff

if TYPE_CHECKING:
    from collections.abc import Callable


posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither FIFOs nor modes")


class MemoryRig:
    def __init__(self) -> None:
        self.memory = MemoryHandoffs(ManualClock())
        self.handoffs = self.memory

    def spoil(self, attempt: AttemptId) -> None:
        self.memory.spoil(attempt)


@dataclass
class FileRig:
    folder: Path

    @property
    def handoffs(self) -> FileHandoffs:
        return FileHandoffs(self.folder, ManualClock())

    @property
    def place(self) -> Path:
        return self.folder / name_handoff(FIRST)

    @property
    def result(self) -> Path:
        return self.place / "result.json"

    def spoil(self, attempt: AttemptId) -> None:
        (self.folder / name_handoff(attempt) / "result.json").write_text("{", encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> FileRig:
    return FileRig(tmp_path / "handoff")


class TestMemoryHandoffs(HandoffsContract):
    @pytest.fixture
    def rig(self) -> HandoffsRig:
        return MemoryRig()


class TestFileHandoffs(HandoffsContract):
    @pytest.fixture
    def rig(self, files: FileRig) -> HandoffsRig:
        return files


async def test_the_files_are_those_that_the_predecessor_had(files: FileRig) -> None:
    await files.handoffs.offer(make_handoff())
    assert sorted(path.name for path in files.place.iterdir()) == ["meta.json", "prompt.md"]
    assert files.place.name == "t-1-ab-1_1"
    meta = json.loads((files.place / "meta.json").read_bytes())
    assert {name: meta[name] for name in ("task_id", "plan_file", "cwd", "started_at", "timeout_s")} == {
        "task_id": "T-1",
        "plan_file": "/plan.json",
        "cwd": "/tree",
        "started_at": "2026-01-01 00:00:00Z",
        "timeout_s": 0,
    }


async def test_an_answer_of_the_predecessor_s_form_will_do(files: FileRig) -> None:
    await files.handoffs.offer(make_handoff())
    usage = {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.25, "num_turns": 2}
    told = {"status": "partial", "message": "half", "duration_s": 3.5, "usage": usage, "more": [1]}
    files.result.write_bytes(b"\xef\xbb\xbf" + json.dumps(told).encode())
    answer = (await files.handoffs.look(FIRST)).answer
    assert answer is not None
    assert (answer.status, answer.message, answer.usage.input_tokens, answer.usage.turns) == (
        AnswerStatus.PARTIAL,
        "half",
        3,
        2,
    )
    assert (str(answer.usage.cost_usd), answer.took is not None and answer.took.total_seconds()) == ("0.25", 3.5)


def write(text: str | bytes) -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(text if isinstance(text, bytes) else text.encode()), None)[1]


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 << 30)


HOSTILE: dict[str, Callable[[Path], None]] = {
    "empty": write(""),
    "not JSON": write("done\n"),
    "half of it": write('{"status": "compl'),
    "a list": write('["complete"]'),
    "null": write("null"),
    "an unknown status": write('{"status": "merged"}'),
    "no status": write('{"message": "done"}'),
    "a status that is no text": write('{"status": {"complete": true}}'),
    "a message that is no text": write('{"status": "complete", "message": 7}'),
    "a cost that is no number": write('{"status": "complete", "usage": {"cost_usd": NaN}}'),
    "a negative cost": write('{"status": "complete", "usage": {"cost_usd": -1}}'),
    "endless tokens": write('{"status": "complete", "usage": {"input_tokens": 1e400}}'),
    "a number of many digits": write('{"status": "complete", "duration_s": ' + "9" * 100_000 + "}"),
    "nesting without end": write('{"status": ' + "[" * 500_000),
    "no UTF-8": write(b'{"status": "complete", "message": "\xff\xfe"}'),
    "half a surrogate": write('{"status": "complete", "message": "\\ud800"}'),
    "another attempt's": write('{"status": "complete", "attempt": "t-1-ab-1/7"}'),
    "huge": make_huge,
    "a directory": lambda path: path.mkdir(),
    "a link": lambda path: path.symlink_to("/etc/hostname"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a FIFO": getattr(os, "mkfifo", write("")),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@posix
@pytest.mark.parametrize("what", HOSTILE)
async def test_a_hostile_answer_is_one_clear_error_and_loses_nothing(files: FileRig, what: str) -> None:
    await files.handoffs.offer(make_handoff())
    HOSTILE[what](files.result)
    async with asyncio.timeout(20):
        found = await files.handoffs.look(FIRST)
    assert found.state is HandoffState.SPOILED
    assert found.answer is None
    assert found.problem.startswith("result.json: ")
    assert len(found.problem) < 300
    assert found.problem.isprintable()
    assert os.path.lexists(files.result)
    await files.handoffs.answer(FIRST, DONE)
    assert (await files.handoffs.look(FIRST)).answer == DONE
    assert os.path.lexists(files.place / "result.json.unusable-1")


async def test_no_reader_ever_sees_half_an_answer(files: FileRig) -> None:
    await files.handoffs.offer(make_handoff())
    seen = set()
    answering = asyncio.ensure_future(files.handoffs.answer(FIRST, DONE))
    while not answering.done():
        seen.add((await files.handoffs.look(FIRST)).state)
    seen.add((await files.handoffs.look(FIRST)).state)
    assert seen <= {HandoffState.OPEN, HandoffState.ANSWERED}
    assert sorted(path.name for path in files.place.iterdir()) == ["meta.json", "prompt.md", "result.json"]


async def test_of_many_who_answer_at_once_one_is_heard(files: FileRig) -> None:
    for number in range(30):
        attempt = AttemptId(f"t-1-ab-1/{number + 1}")
        await files.handoffs.offer(make_handoff(attempt))
        told = await asyncio.gather(*(files.handoffs.answer(attempt, DONE) for _ in range(5)), return_exceptions=True)
        assert [type(each) for each in told if each is not None] == [RuleViolation] * 4
        assert not list(files.folder.glob("*/result.json.unusable*"))


async def test_what_lay_there_before_is_put_aside_and_never_taken(files: FileRig) -> None:
    files.place.mkdir(parents=True)
    files.result.write_text('{"status": "complete"}', encoding="utf-8")
    assert (await files.handoffs.look(FIRST)).state is HandoffState.ABSENT
    assert (await files.handoffs.offer(make_handoff())).state is HandoffState.OPEN
    assert (files.folder / "t-1-ab-1_1.stale-1" / "result.json").is_file()


async def test_what_a_killed_process_had_begun_is_begun_again(files: FileRig) -> None:
    left = files.folder / ".t-1-ab-1_1.0badcafe"
    left.mkdir(parents=True)
    (left / "prompt.md").write_text("half", encoding="utf-8")
    assert (await files.handoffs.offer(make_handoff())).state is HandoffState.OPEN
    assert [path.name for path in files.folder.iterdir()] == ["t-1-ab-1_1"]


@posix
async def test_a_link_in_the_place_of_the_folder_is_not_followed(files: FileRig, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "prompt.md").write_text("x", encoding="utf-8")
    (elsewhere / "result.json").write_text('{"status": "complete"}', encoding="utf-8")
    files.folder.mkdir()
    files.place.symlink_to(elsewhere)
    assert (await files.handoffs.look(FIRST)).state is HandoffState.ABSENT
    assert (await files.handoffs.offer(make_handoff())).state is HandoffState.OPEN
    assert not files.place.is_symlink()


async def test_a_damaged_description_hinders_nobody(files: FileRig) -> None:
    await files.handoffs.offer(make_handoff())
    (files.place / "meta.json").write_text("[]", encoding="utf-8")
    assert (await files.handoffs.look(FIRST)).state is HandoffState.OPEN
    assert await files.handoffs.list_all() == []
    await files.handoffs.answer(FIRST, DONE)
    assert (await files.handoffs.look(FIRST)).answer == DONE


async def test_a_folder_that_cannot_be_written_is_said(files: FileRig) -> None:
    files.folder.parent.mkdir(exist_ok=True)
    files.folder.write_text("in the way", encoding="utf-8")
    with pytest.raises(Unavailable, match="cannot be written"):
        await files.handoffs.offer(make_handoff())
    with pytest.raises(Unavailable, match="cannot be written"):
        await files.handoffs.withdraw(FIRST, "cancelled")
