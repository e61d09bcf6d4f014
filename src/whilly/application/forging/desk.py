"""What the stages of the pipeline `forge` need for one issue, and how they fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.delivery.proof import Demand
from whilly.domain.errors import BadResponse, NotAuthorized, NotFound, RuleViolation, Unavailable
from whilly.domain.flow.brief import HandedOver
from whilly.domain.flow.lifecycle import BACKOFF
from whilly.domain.forge.place import Place, Provider
from whilly.domain.forge.pull_request import MergeMethod
from whilly.domain.forge.reference import IssueRef
from whilly.domain.ids import RunId
from whilly.ports.delivery.artefacts import Artefacts
from whilly.ports.delivery.divider import Divider
from whilly.ports.delivery.parts import Parts
from whilly.ports.delivery.remote import Remote
from whilly.ports.delivery.trees import Trees
from whilly.ports.forge import Forge
from whilly.ports.tracker import Tracker

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.domain.flow.brief import Brief


@dataclass(frozen=True, slots=True)
class PullRules:
    """How pull requests are opened.

    Attributes:
        is_draft: None leaves that to how sure Whilly is of what was wanted.
        reviewers: logins of the forge.
        look_every: seconds between two looks at an open pull request; None looks once.
        follows_base: whenever the base branch has moved the change is put on top of it; otherwise where it must.
        merges_itself: what is approved and green is merged by Whilly.
        proofs: what becomes of one that a change does not give.
    """

    is_draft: bool | None = None
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    look_every: float | None = None
    follows_base: bool = True
    merges_itself: bool = False
    method: MergeMethod = MergeMethod.SQUASH
    proofs: Demand = Demand.ASK


class Asking(StrEnum):
    """When an agent is asked for a plan before it works."""

    AUTO = "auto"
    """When the strategy wants one, or the issue is large."""
    ALWAYS = "always"
    NEVER = "never"


class Without(StrEnum):
    """What follows when there is no second opinion that can be used."""

    GO_ON = "go_on"
    WAIT = "wait"
    """For a person."""


@dataclass(frozen=True, slots=True)
class IssueRules:
    """How issues are prepared.

    Attributes:
        second_opinion: an agent is asked what is missing in an issue and what speaks against it, after the rules.
    """

    plan: Asking = Asking.AUTO
    second_opinion: bool = False
    without: Without = Without.GO_ON


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a pull request that asked for nothing.

    Attributes:
        at: by the clock's stop-watch.
    """

    at: float
    found: HandedOver


@dataclass(frozen=True, slots=True)
class Desk:
    """One issue's tracker and forge.

    Attributes:
        place: the forge's name.
        repository: `owner/name` there.
        base: the branch that the pull request is to be merged into.
        neighbour: the forge's own tracker, which knows who Whilly is there.
        provider: of the forge.
        calls: how many requests were sent to the forge so far.
        places: that are known, for issues that are named by their address.
        looks: at pull requests that are looked at again and again, the last one of each run.
        is_own_tracker: the issue is one of the repository itself, which the forge closes with the pull request.
    """

    ref: IssueRef
    place: str
    repository: str
    base: str
    tracker: Tracker
    neighbour: Tracker
    forge: Forge
    remote: Remote
    artefacts: Artefacts
    parts: Parts
    divider: Divider
    trees: Trees
    rules: PullRules = PullRules()
    issues: IssueRules = IssueRules()
    is_own_tracker: bool = True
    provider: Provider = Provider.GITHUB
    calls: Callable[[], int] = int
    places: tuple[Place, ...] = ()
    looks: dict[RunId, Look] = field(default_factory=dict)


Stage = Callable[["Brief", "AttemptContext", Desk], Awaitable[AttemptResult | HandedOver]]


def at(desk: Desk, stage: Stage) -> Callable[[Brief, AttemptContext], Awaitable[AttemptResult | HandedOver]]:
    """The stage as the engine calls it. What only a person can mend is waited for; an outage is tried again."""

    async def work(brief: Brief, context: AttemptContext) -> AttemptResult | HandedOver:
        try:
            return await stage(brief, context, desk)
        except (NotAuthorized, NotFound, RuleViolation) as error:
            return AttemptResult(Outcome.BLOCKED, f"{error}; then: whilly forge {brief.item.id}", commit=brief.run.head)
        except (Unavailable, BadResponse) as error:
            # What is done is not lost by a bad day of somebody else's server.
            if brief.run.outages < len(BACKOFF):
                pause = error.retry_after if isinstance(error, Unavailable) else None
                retry_at = context.ports.clock.now() + pause if pause else None
                return AttemptResult(Outcome.UNAVAILABLE, str(error), commit=brief.run.head, retry_at=retry_at)
            return AttemptResult(Outcome.BLOCKED, f"{error}; then: whilly forge {brief.item.id}", commit=brief.run.head)

    return work
