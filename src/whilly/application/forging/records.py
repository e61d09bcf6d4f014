"""What the stages remember of a pull request: artefacts of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whilly.application.forging.rounds import VERDICT
from whilly.domain.delivery.draft import Offer
from whilly.domain.errors import NotFound
from whilly.domain.forge.pull_request import PullRef
from whilly.domain.ids import CommitId, RunId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.application.forging.desk import Desk
    from whilly.domain.flow.brief import Brief
    from whilly.domain.forge.feedback import Request
    from whilly.domain.forge.pull_request import PullRequest

PULL_REQUEST = "pr"
FEEDBACK = "feedback"
FORK = "fork"
PLAN = "plan"


async def keep_pull(brief: Brief, desk: Desk, pull: PullRequest, head: CommitId, offer: Offer) -> None:
    """Remember the pull request, which commit Whilly has pushed, and as what it is offered."""
    document = {
        "version": 1,
        "repository": pull.ref.repository,
        "number": pull.ref.number,
        "url": pull.url,
        "title": pull.title,
        "branch": pull.head_branch,
        "base": pull.base_branch,
        "head": head,
        "is_draft": pull.is_draft,
        "draft_because": list(offer.because),
        "accepted": list(offer.accepted),
        "api_calls": desk.calls(),
    }
    await desk.artefacts.save(brief.run.id, PULL_REQUEST, document)


def name_pull(brief: Brief, desk: Desk) -> str:
    """The key of the pull request of the issue's branch: begun anew on another branch, it is another one."""
    return f"{desk.ref.key}@{brief.target}"


async def find_earlier(brief: Brief, desk: Desk) -> tuple[RunId, Mapping[str, Any]] | None:
    """The newest earlier run of the issue that opened a pull request, and what it remembered."""
    stem, _, number = brief.run.id.rpartition("-")
    for earlier in range(int(number) - 1, 0, -1):
        run = RunId(f"{stem}-{earlier}")
        if known := await desk.artefacts.load(run, PULL_REQUEST):
            return run, known
    return None


async def take_over_parts(brief: Brief, desk: Desk) -> bool:
    """Go on with what an earlier run has divided on this very branch; whether one has."""
    stem, _, number = brief.run.id.rpartition("-")
    for earlier in range(int(number) - 1, 0, -1):
        run = RunId(f"{stem}-{earlier}")
        planned, fork = await desk.artefacts.load(run, PLAN) or {}, await desk.artefacts.load(run, FORK)
        if planned.get("parts") and planned.get("branch") == brief.target and fork:
            await desk.artefacts.save(brief.run.id, PLAN, planned)
            await desk.artefacts.save(brief.run.id, FORK, fork)
            return True
    return False


async def take_over(brief: Brief, desk: Desk, run: RunId) -> None:
    """Go on with what an earlier run remembered of its pull request."""
    for name in (PULL_REQUEST, FEEDBACK, FORK, VERDICT):
        if known := await desk.artefacts.load(run, name):
            await desk.artefacts.save(brief.run.id, name, known)


async def find_pull(brief: Brief, desk: Desk) -> PullRef:
    """The run's pull request.

    Raises:
        NotFound: none was opened.
    """
    known = await desk.artefacts.load(brief.run.id, PULL_REQUEST)
    if known is None:
        message = f"{brief.run.id} has opened no pull request"
        raise NotFound(message)
    return PullRef(desk.place, str(known["repository"]), int(str(known["number"])))


async def find_head(brief: Brief, desk: Desk) -> CommitId | None:
    """The commit that Whilly has pushed last."""
    known = await desk.artefacts.load(brief.run.id, PULL_REQUEST) or {}
    return CommitId(str(known["head"])) if known.get("head") else None


async def find_offer(brief: Brief, desk: Desk) -> Offer | None:
    """How Whilly has left the pull request; None when it has opened none."""
    known: Mapping[str, Any] = await desk.artefacts.load(brief.run.id, PULL_REQUEST) or {}
    because, accepted = (tuple(map(str, known.get(name, ()))) for name in ("draft_because", "accepted"))
    return Offer(bool(known["is_draft"]), because, accepted) if known else None


async def keep_fork(brief: Brief, desk: Desk, commit: CommitId) -> None:
    """Remember the commit of the base branch that the issue's branch is on top of."""
    await desk.artefacts.save(brief.run.id, FORK, {"version": 1, "commit": commit})


async def find_fork(brief: Brief, desk: Desk) -> CommitId | None:
    """The commit of the base branch that the issue's branch is on top of."""
    known = await desk.artefacts.load(brief.run.id, FORK) or {}
    return CommitId(str(known["commit"])) if known.get("commit") else None


async def keep_open_requests(brief: Brief, desk: Desk, requests: Sequence[Request]) -> None:
    """Remember what is to be answered when the change that was asked for is there."""
    known = await _load(brief, desk)
    waiting = [{"id": each.id, "thread": each.thread, "author": each.author} for each in requests]
    await desk.artefacts.save(brief.run.id, FEEDBACK, {**known, "waiting": waiting})


async def find_waiting(brief: Brief, desk: Desk) -> Sequence[tuple[str, str]]:
    """Id and thread of what is to be answered."""
    return [(each["id"], each["thread"]) for each in (await _load(brief, desk))["waiting"]]


async def mark_answered(brief: Brief, desk: Desk, request: str) -> None:
    """This one was answered."""
    known = await _load(brief, desk)
    waiting = [each for each in known["waiting"] if each["id"] != request]
    document = {**known, "waiting": waiting, "answered": [*known["answered"], request]}
    await desk.artefacts.save(brief.run.id, FEEDBACK, document)


async def find_answered(brief: Brief, desk: Desk) -> frozenset[str]:
    """Ids of all that was answered."""
    return frozenset((await _load(brief, desk))["answered"])


async def _load(brief: Brief, desk: Desk) -> Mapping[str, Any]:
    known = await desk.artefacts.load(brief.run.id, FEEDBACK) or {}
    return {"version": 1, "waiting": [], "answered": [], **known}
