"""What agent CLIs are able to do, in words and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whilly.domain.session import AgentFacts


def list_abilities(facts: AgentFacts) -> list[tuple[str, bool]]:
    """What there is to be able to do, in words that follow `it`, and whether this agent is."""
    return [
        ("resumes sessions", facts.can_resume),
        ("reports tokens", facts.reports_usage),
        ("reports cost", facts.reports_cost and not facts.is_priced),
        ("is priced by its tokens", facts.is_priced),
        ("tells usage limits", facts.reports_limits),
        ("bounds its turns", facts.bounds_turns),
        ("bounds its cost", facts.bounds_cost),
        ("has permission rules", facts.has_safe_mode),
        ("runs the repository's plugins", facts.runs_plugins),
    ]


ABILITIES = (
    *("can_resume", "reports_usage", "reports_cost", "is_priced", "reports_limits"),
    *("bounds_turns", "bounds_cost", "has_safe_mode", "runs_plugins"),
)
"""What the listing for programs says of each agent; null where its settings describe none."""
