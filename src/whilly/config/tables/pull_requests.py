"""Settings about the pull requests that Whilly opens."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from whilly.config.tables.fields import Seconds, Section


class PullRequestSettings(Section):
    """How `whilly forge` opens pull requests, and what it does with them afterwards."""

    draft: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Open them as drafts: `auto` does when the issue left much open, or the change does not pass "
        "or does not show what it should.",
    )
    proofs: Literal["ask", "draft", "off"] = Field(
        default="ask",
        description="What a change does not show of itself, such as a test that fails without it: `ask` asks the agent "
        "for it once, and then opens a draft that says what is missing; `draft` does not ask; `off` does not look.",
    )
    labels: tuple[str, ...] = Field(default=(), description="Labels that they get.")
    reviewers: tuple[str, ...] = Field(
        default=(), description="Whose review is asked for, by the forge's names; whom the forge refuses is left out."
    )
    follow_base: bool = Field(
        default=True,
        description="Put the change on top of the base branch whenever that has moved, and check it there; otherwise "
        "only where it conflicts.",
    )
    auto_merge: bool = Field(
        default=False,
        description="Merge one that is no draft, when its checks pass and somebody who may write approves of that very "
        "commit.",
    )
    merge_method: Literal["squash", "merge", "rebase"] = Field(default="squash", description="How it is merged then.")
    look_s: Seconds = Field(default=60, description="Seconds between two looks at one that is looked after.")
