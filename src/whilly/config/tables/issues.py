"""Settings about how issues are prepared."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from whilly.config.tables.fields import Section


class IssueSettings(Section):
    """How `whilly forge` prepares the work on an issue."""

    plan: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Ask an agent in the role `planner` for a plan before the work begins: `auto` does for features "
        "and for what is large. Otherwise the plan follows from the issue by rules.",
    )
    second_opinion: bool = Field(
        default=False,
        description="When the rules find nothing in the way, ask an agent in the role `analyst`, in one session, "
        "what is missing in the issue and what speaks against it. It adds to what the rules found.",
    )
    without_opinion: Literal["go_on", "wait"] = Field(
        default="go_on",
        description="When its answer cannot be used, twice: `go_on` with what the rules say, or `wait` for a person.",
    )
    max_parts: int = Field(
        default=5,
        ge=0,
        le=26,
        description="How many parts a large issue may be taken apart into, which are done side by side; below 2 it is "
        "done as one.",
    )
