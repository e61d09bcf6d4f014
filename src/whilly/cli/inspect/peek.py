"""What agents are doing right now, read from the output of their sessions: for commands that are not the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from whilly.application.live import Live, LiveAttempt
from whilly.application.telling.progress import at_moment
from whilly.domain.errors import ConfigError
from whilly.domain.flow.plan_run import PlanPhase
from whilly.domain.machine import find_shortage
from whilly.ports.agent import NOTHING_KNOWN
from whilly.ports.sessions import SessionState
from whilly.transport.process.home import AttemptHome
from whilly.transport.process.records import OUTPUT_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.application.telling.progress import Active, Progress
    from whilly.bootstrap import Project
    from whilly.domain.session import Prior
    from whilly.ports.agent import SessionReader

HEAD_BYTES = 1 << 16
TAIL_BYTES = 1 << 18
"""What is read of an output: its first lines, which introduce the session, and its last ones."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file; `is_whole` when none were left out."""

    lines: list[bytes]
    is_whole: bool


def peek(project: Project, progress: Progress) -> Progress:
    """The same progress, with what each agent did last."""
    live = Live(project.clock)
    for active in progress.active:
        if active.is_under_way and active.run:
            live.started(_look(project, active))
    _hold(project, progress, live)
    return at_moment(progress, progress.at, live, progress.news)


def _hold(project: Project, progress: Progress, live: Live) -> None:
    """Say of what is to go on with an agent that the machine has no room for it, if that is so."""
    stages = {name: stage for each in project.pipelines.values() for name, stage in each.stages.items()}
    early = [each for each in progress.active if not each.is_under_way and each.stage in stages]
    early = [each for each in early if stages[each.stage].is_agent]
    if not early or progress.phase is not PlanPhase.ACTIVE:
        return
    working = sum(bool(each.agent) for each in live.attempts.values())
    shortage = find_shortage(project.machine.measure(), project.settings.machine.thresholds(), working=working)
    for each in early if shortage else ():
        live.held(each.item, shortage)


def _look(project: Project, active: Active) -> LiveAttempt:
    home = project.attempts_root / active.run / str(active.number)
    attempt = LiveAttempt(active.item, active.number, active.stage, active.agent, active.since, str(home))
    reader = find_reader(project, active.agent)
    if reader is None:
        return attempt
    output = home / OUTPUT_FILE
    action, tokens = _last_action(output, reader)
    try:
        acted_at = datetime.fromtimestamp(output.stat().st_mtime, UTC) if action else None
    except OSError:
        acted_at = None
    return LiveAttempt(
        active.item, active.number, active.stage, active.agent, active.since, str(home), action, tokens, acted_at
    )


def without_whilly(project: Project, progress: Progress) -> Progress:
    """The same while no Whilly is at work: only agents whose process is alive are under way."""
    active = tuple(replace(each, is_under_way=_is_alive(project, each)) for each in progress.active)
    return replace(progress, active=active)


def _is_alive(project: Project, active: Active) -> bool:
    home = project.attempts_root / active.run / str(active.number)
    return active.is_under_way and AttemptHome(str(home)).state() is SessionState.RUNNING


def find_reader(project: Project, agent: str, prior: Prior = NOTHING_KNOWN) -> SessionReader | None:
    """A reader for this agent's output; None for a built-in action, and where the settings have no such agent."""
    if agent not in project.agent_names:
        return None
    try:
        return project.make_agent(agent).reader(prior)
    except ConfigError:
        return None


def is_person(project: Project, agent: str) -> bool:
    """Whether the agent of this name is a person."""
    if agent not in project.agent_names:
        return False
    try:
        return project.make_agent(agent).facts().is_person
    except ConfigError:
        return False


def _last_action(output: Path, reader: SessionReader) -> tuple[str, int]:
    """The last thing that the agent did, and its tokens if the whole output was read."""
    excerpt = read_excerpt(output, HEAD_BYTES, TAIL_BYTES)
    action, tokens = "", 0
    for line in excerpt.lines:
        for activity in reader.feed(line):
            action = activity.text or action
            tokens += activity.tokens
    return action, tokens if excerpt.is_whole else 0


def read_excerpt(path: Path, head: int, tail: int) -> Excerpt:
    """The complete lines within the first `head` and the last `tail` bytes of a file that may still be growing."""
    try:
        with path.open("rb") as file:
            begin = file.read(head)
            size = file.seek(0, 2)
            if size <= head + tail:
                file.seek(0)
                return Excerpt(file.read(size).split(b"\n"), is_whole=True)
            file.seek(size - tail)
            end = file.read(tail)
    except OSError:
        return Excerpt([], is_whole=True)
    # The cuts go through lines: the pieces before and after them are left out.
    return Excerpt([*begin.split(b"\n")[:-1], *end.split(b"\n")[1:]], is_whole=False)
