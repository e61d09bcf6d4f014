"""FileHandoffs: a folder for each hand-off, which any editor, script or bot can answer."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, final

from filelock import FileLock, Timeout
from typing_extensions import override

from whilly.adapters.handoff.payloads import (
    parse_meta,
    parse_result,
    parse_withdrawal,
    render_meta,
    render_result,
    render_withdrawal,
)
from whilly.domain.errors import NotFound, RuleViolation, Unavailable
from whilly.domain.handoff import Answer, Handoff, HandoffState, Standing, name_handoff
from whilly.ports.handoffs import Handoffs
from whilly.transport.files import Unreadable, read_file, write_file

if TYPE_CHECKING:
    from whilly.domain.ids import AttemptId
    from whilly.ports.clock import Clock

PROMPT_FILE = "prompt.md"
META_FILE = "meta.json"
RESULT_FILE = "result.json"
WITHDRAWN_FILE = "withdrawn.json"
LOCK_FILE = ".lock"
LOCK_SECONDS = 10.0
"""How long an answer waits for others; each takes a moment."""

MAX_PROMPT = 64 << 20


@final
class FileHandoffs(Handoffs):
    """Hand-offs as `<folder>/<id>/{prompt.md,meta.json,result.json}`; `withdrawn.json` says that it was taken back.

    Args:
        folder: holds them all; made when it is needed.
        clock: for the moment of handing over.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    @override
    async def offer(self, handoff: Handoff) -> Standing:
        return await asyncio.to_thread(self._offer, handoff)

    @override
    async def look(self, attempt: AttemptId) -> Standing:
        return await asyncio.to_thread(self._look, attempt)

    @override
    async def read_prompt(self, attempt: AttemptId) -> str:
        return await asyncio.to_thread(self._read_prompt, attempt)

    @override
    async def answer(self, attempt: AttemptId, answer: Answer) -> None:
        await asyncio.to_thread(self._answer, attempt, answer)

    @override
    async def withdraw(self, attempt: AttemptId, reason: str) -> None:
        await asyncio.to_thread(self._withdraw, attempt, reason)

    @override
    async def list_all(self) -> list[AttemptId]:
        return await asyncio.to_thread(self._list_all)

    def _place(self, attempt: AttemptId) -> Path:
        return self._folder / name_handoff(attempt)

    def _offer(self, handoff: Handoff) -> Standing:
        place = self._place(handoff.attempt)
        if self._look(handoff.attempt).state is not HandoffState.ABSENT:
            return self._look(handoff.attempt)
        made = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._tidy(place)
            made.mkdir(mode=0o700)
            write_file(made / PROMPT_FILE, handoff.prompt.encode("utf-8", "replace"))
            write_file(made / META_FILE, render_meta(handoff, self._clock.now()))
            made.rename(place)
        except OSError as error:
            shutil.rmtree(made, ignore_errors=True)
            raise _explain(place, error) from error
        return self._look(handoff.attempt)

    def _tidy(self, place: Path) -> None:
        """Out of the way with what a killed process or somebody else has left there: it was never handed over."""
        for left in self._folder.glob(f".{place.name}.*"):
            shutil.rmtree(left, ignore_errors=True)
        if os.path.lexists(place):
            place.rename(_find_free(place.with_name(f"{place.name}.stale")))

    def _look(self, attempt: AttemptId) -> Standing:
        place = self._place(attempt)
        is_there = place.is_dir() and not place.is_symlink()
        handoff = parse_meta(_read(place / META_FILE) or b"") if is_there else None
        withdrawn = _read(place / WITHDRAWN_FILE) if is_there else None
        if withdrawn is not None:
            return Standing(HandoffState.WITHDRAWN, str(place), handoff, problem=parse_withdrawal(withdrawn))
        if not is_there or (handoff is None and not (place / PROMPT_FILE).exists()):
            return Standing(HandoffState.ABSENT, str(place))
        answer = _read_answer(place / RESULT_FILE, attempt)
        if answer is None:
            return Standing(HandoffState.OPEN, str(place), handoff)
        if isinstance(answer, str):
            return Standing(HandoffState.SPOILED, str(place), handoff, problem=f"{RESULT_FILE}: {answer}")
        return Standing(HandoffState.ANSWERED, str(place), handoff, answer)

    def _read_prompt(self, attempt: AttemptId) -> str:
        place = self._place(attempt) / PROMPT_FILE
        try:
            data = read_file(place, MAX_PROMPT)
        except Unreadable as error:
            message = f"{place} cannot be read: {error}"
            raise NotFound(message) from error
        if data is None:
            message = f"{place} does not exist: nothing was handed over"
            raise NotFound(message, remedy="whilly handoff list")
        return data.decode("utf-8", "replace")

    def _answer(self, attempt: AttemptId, answer: Answer) -> None:
        if not self._folder.is_dir():
            raise _absent(self._place(attempt))
        try:
            # Who looks and then writes must not take the answer of somebody else, given in between, for a spoiled one.
            with FileLock(self._folder / LOCK_FILE, timeout=LOCK_SECONDS):
                self._answer_alone(attempt, answer)
        except Timeout as error:
            message = f"somebody else has been answering in {self._folder} for {LOCK_SECONDS} s"
            raise Unavailable(message, remedy="try again") from error

    def _answer_alone(self, attempt: AttemptId, answer: Answer) -> None:
        place, standing = self._place(attempt), self._look(attempt)
        match standing.state:
            case HandoffState.ABSENT:
                raise _absent(place)
            case HandoffState.WITHDRAWN:
                message = f"{place.name} was taken back" + (f": {standing.problem}" if standing.problem else "")
                raise RuleViolation(message, remedy="whilly handoff list")
            case HandoffState.ANSWERED:
                raise _answered(place)
            case HandoffState.OPEN | HandoffState.SPOILED:
                self._put(place, render_result(attempt, answer))

    def _put(self, place: Path, data: bytes) -> None:
        result = place / RESULT_FILE
        try:
            if os.path.lexists(result):
                result.rename(_find_free(place / f"{RESULT_FILE}.unusable"))
            write_file(result, data, is_first=True)
        except FileExistsError as error:
            raise _answered(place) from error
        except OSError as error:
            raise _explain(place, error) from error

    def _withdraw(self, attempt: AttemptId, reason: str) -> None:
        place = self._place(attempt)
        if self._look(attempt).state is HandoffState.WITHDRAWN:
            return
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(place / WITHDRAWN_FILE, render_withdrawal(reason, self._clock.now()))
        except OSError as error:
            raise _explain(place, error) from error

    def _list_all(self) -> list[AttemptId]:
        found = []
        with suppress(FileNotFoundError, NotADirectoryError):
            for place in self._folder.iterdir():
                handoff = parse_meta(_read(place / META_FILE) or b"")
                if handoff is not None and name_handoff(handoff.attempt) == place.name:
                    found.append((handoff.started_at, handoff.attempt))
        return [attempt for _, attempt in sorted(found, key=str)]


def _read_answer(path: Path, attempt: AttemptId) -> Answer | str | None:
    """The answer, what is wrong with it, or None when there is none."""
    try:
        data = read_file(path)
    except Unreadable as error:
        return str(error)
    return parse_result(data, attempt) if data is not None else None


def _read(path: Path) -> bytes | None:
    """What can be read of a file of our own; something that cannot counts as empty."""
    try:
        return read_file(path)
    except Unreadable:
        return b""


def _find_free(path: Path) -> Path:
    number = 1
    while os.path.lexists(f"{path}-{number}"):
        number += 1
    return Path(f"{path}-{number}")


def _absent(place: Path) -> NotFound:
    return NotFound(f"{place} does not exist: nothing was handed over", remedy="whilly handoff list")


def _answered(place: Path) -> RuleViolation:
    return RuleViolation(f"{place.name} is answered already: {place / RESULT_FILE}", remedy="whilly handoff list --all")


def _explain(place: Path, error: OSError) -> Unavailable:
    return Unavailable(f"the hand-off {place} cannot be written: {error.strerror}", remedy="make room, or correct it")
