"""When a silent session counts as hung.

An agent CLI prints nothing while a tool runs, so silence alone says little. Work shows below the CLI: the command of a
tool began after the last event that told of it, or something uses the processor. A CLI that hangs has neither, though
it may have children that were there before and idle: servers of tools, daemons that a tool left.
"""

from __future__ import annotations

from dataclasses import dataclass

from whilly.domain.session import Effort

BUSY_SHARE = 0.01
"""The share of one processor that counts as work; a server that idles takes less than a tenth of it."""

LOOKS = 4
"""How often within the time that silence may last it is looked at what the processes do."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen below the agent at a moment of a clock that never jumps back, in seconds."""

    at: float
    effort: Effort


def is_working(before: Look | None, now: Look) -> bool:
    """Whether something is being done at `now`, by what was seen and by what has been used since `before`."""
    if now.effort.has_command:
        return True
    if before is None or now.at <= before.at:
        return False
    return now.effort.cpu_s - before.effort.cpu_s >= BUSY_SHARE * (now.at - before.at)
