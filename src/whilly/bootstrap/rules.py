"""What the settings say about every attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.domain.flow.brief import SessionLimits

if TYPE_CHECKING:
    from whilly.application.attempt_context import Rules
    from whilly.config.settings import Settings

MEBIBYTE = 1 << 20


def rules(settings: Settings) -> Rules:
    """What the settings say about every attempt."""
    from whilly.application.attempt_context import Rules  # noqa: PLC0415  (as above)

    agent = settings.agent
    limits = SessionLimits(
        attempt=_seconds(agent.attempt_timeout_s),
        first_output=_seconds(agent.first_output_s),
        silence=_seconds(agent.stall_s),
        after_result=timedelta(seconds=agent.result_grace_s),
        grace=timedelta(seconds=agent.grace_s),
        max_turns=agent.max_turns,
        output=agent.max_output_mb * MEBIBYTE,
        handoff=_seconds(settings.handoff.timeout_s),
    )
    return Rules(profile=settings.profile.profile(), limits=limits, machine=settings.machine.thresholds())


def _seconds(value: float) -> timedelta | None:
    return timedelta(seconds=value) if value else None
