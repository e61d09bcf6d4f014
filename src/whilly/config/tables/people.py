"""Settings about people."""

from __future__ import annotations

from pydantic import Field

from whilly.config.tables.fields import Seconds, Section


class HandoffSettings(Section):
    """Work that is handed to people, by the agent `handoff`."""

    timeout_s: Seconds = Field(
        default=0, description="Seconds after which work that nobody gave back is taken back; 0 is never."
    )
