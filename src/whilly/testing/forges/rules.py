"""What our servers hold of pull requests: where their heads are, what stands in the way of a merge, and merging."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whilly.testing.forges.hub import CheckRow, Hub, Pull, Repo, Ticket


def head_of(repo: Repo, pull: Pull) -> str:
    """The head commit, also after its branch is gone."""
    found = repo.git.find(pull.head)
    if found and not pull.merged:
        pull.last_head = found
    return pull.last_head


def latest_checks(repo: Repo, commit: str) -> list[CheckRow]:
    """The newest result of each check of a commit."""
    return list({row.name: row for row in repo.checks if row.commit == commit}.values())


def find_obstacle(repo: Repo, ticket: Ticket, pull: Pull) -> str:
    """Why it cannot be merged: `closed`, `draft`, `conflict`, `checks`, `approvals`; empty when it can."""
    head = head_of(repo, pull)
    passed = {row.name for row in latest_checks(repo, head) if row.state == "passed"}
    opinions = {review.author.login: review.opinion for review in pull.reviews if review.opinion != "commented"}
    approvals = sum(opinion == "approved" for opinion in opinions.values())
    reasons = {
        "closed": ticket.state != "open",
        "draft": pull.is_draft,
        "conflict": repo.git.merge_tree(pull.base, head) is None,
        "checks": bool(repo.required - passed),
        "approvals": approvals < repo.approvals,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def merge(hub: Hub, repo: Repo, ticket: Ticket, pull: Pull, message: str) -> str:
    """Merge it; the commit."""
    pull.merged = repo.git.merge(pull.base, head_of(repo, pull), message)
    ticket.state, ticket.updated = "closed", hub.now()
    return pull.merged
