"""Why a pull request was not merged, read from how it stands; forges' own answers say it vaguely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.errors import RuleViolation
from whilly.domain.forge.pull_request import Mergeable, Merged, NotMerged, Obstacle, PullState

if TYPE_CHECKING:
    from whilly.domain.forge.pull_request import PullChange, PullRequest
    from whilly.domain.ids import CommitId


def judge_obstacle(pull: PullRequest, head: CommitId, said: str) -> Merged | NotMerged:
    """What became of a merge that was not plainly a success.

    Args:
        pull: as it stands afterwards.
        head: the commit that was expected.
        said: the forge's own words.
    """
    if pull.state is PullState.MERGED and pull.merge_commit is not None:
        return Merged(pull.merge_commit)
    reasons = {
        Obstacle.CLOSED: pull.state is not PullState.OPEN,
        Obstacle.HEAD_MOVED: pull.head_commit != head,
        Obstacle.DRAFT: pull.is_draft,
        Obstacle.CONFLICT: pull.mergeable is Mergeable.NO,
        Obstacle.UNDECIDED: pull.mergeable is Mergeable.UNKNOWN,
    }
    return NotMerged(next((obstacle for obstacle, holds in reasons.items() if holds), Obstacle.BLOCKED), said)


def require_open(pull: PullRequest, change: PullChange) -> None:
    """Refuse to open what is merged.

    Raises:
        RuleViolation: it is merged.
    """
    if pull.state is PullState.MERGED and change.is_open:
        message = f"{pull.ref.short} is merged and cannot be opened again"
        raise RuleViolation(message, remedy="open another pull request")
