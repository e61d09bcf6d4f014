"""One attempt's output, read through its agent's own reader."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.application.telling.rows import AttemptRow
from whilly.cli.inspect.peek import HEAD_BYTES, find_reader, read_excerpt
from whilly.domain.redaction import RedactedStream
from whilly.domain.session import Exit
from whilly.transport.process.home import AttemptHome
from whilly.transport.process.records import OUTPUT_FILE

if TYPE_CHECKING:
    from whilly.bootstrap import Project
    from whilly.domain.redaction import Redactor
    from whilly.ports.agent import SessionReader

PIECE_BYTES = 1 << 16
TAIL_BYTES = 8 << 20
"""How much of the end of an output is read; a session that writes more is cut at its beginning."""


@dataclass(frozen=True, slots=True)
class SessionLog:
    """What an attempt left.

    Attributes:
        actions: what its agent did, one line each, oldest first.
        is_cut: earlier actions were left out.
        message: the agent's last message, once it has ended.
        stderr: the end of its standard error, when it did not end well.
        offset: up to where its output was read.
    """

    attempt: AttemptRow
    home: Path
    actions: tuple[str, ...] = ()
    is_cut: bool = False
    message: str = ""
    stderr: str = ""
    offset: int = 0


def head_line(attempt: AttemptRow) -> str:
    """What an attempt was: `── 1/2 verify, 2030-01-01 12:00:00, rejected`."""
    by = f" by {attempt.agent}" if attempt.agent else ""
    when = attempt.started_at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    outcome = attempt.result.outcome if attempt.result else "under way"
    return f"── {attempt.run.rpartition('-')[2]}/{attempt.number} {attempt.stage}{by}, {when}, {outcome}"


def read_log(project: Project, attempt: AttemptRow, most: int) -> SessionLog:
    """What an attempt left, with its latest `most` actions (0 is all); a built-in action has none."""
    home = project.attempts_root / attempt.run / str(attempt.number)
    reader, output = find_reader(project, attempt.agent), home / OUTPUT_FILE
    if reader is None:
        return SessionLog(attempt, home)
    size = output.stat().st_size if output.exists() else 0
    excerpt = read_excerpt(output, HEAD_BYTES, TAIL_BYTES if most else max(size, 1))
    actions = [activity.text for line in excerpt.lines for activity in reader.feed(line) if activity.text]
    shown = actions[-most:] if most else actions
    is_cut = not excerpt.is_whole or len(shown) < len(actions)
    message, stderr = _last_words(reader, home, attempt, project.redactor)
    return SessionLog(attempt, home, tuple(shown), is_cut, message, stderr, size)


def _last_words(reader: SessionReader, home: Path, attempt: AttemptRow, redactor: Redactor) -> tuple[str, str]:
    """The agent's last message and, if it did not end well, the end of its standard error."""
    if attempt.result is None:
        return "", ""
    exit_ = AttemptHome(str(home)).exit() if home.exists() else Exit(None, cause="lost")
    report = reader.report(exit_)
    return report.final_message, redactor.clean(exit_.stderr_tail) if exit_.code != 0 else ""


def write_raw(project: Project, attempt: AttemptRow) -> None:
    """Copy an attempt's output to standard output as it is, but for secrets."""
    output = project.attempts_root / attempt.run / str(attempt.number) / OUTPUT_FILE
    if output.exists():
        stream = RedactedStream(project.redactor)
        with output.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                # Every byte has its character, so that what is no text comes out as it went in.
                sys.stdout.buffer.write(stream.feed(piece.decode("latin-1")).encode("latin-1"))
        sys.stdout.buffer.write(stream.flush().encode("latin-1"))
        sys.stdout.buffer.flush()
