"""`verdict.json`: the rounds of a run, kept for later ones, for the pull request, and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.delivery.round import describe_rounds, parse_rounds

if TYPE_CHECKING:
    from whilly.application.forging.desk import Desk
    from whilly.domain.delivery.round import Round
    from whilly.domain.flow.brief import Brief

VERDICT = "verdict"


async def load_rounds(brief: Brief, desk: Desk) -> tuple[Round, ...]:
    """All rounds, the oldest first."""
    return parse_rounds(await desk.artefacts.load(brief.run.id, VERDICT) or {})


async def load_earlier(brief: Brief, desk: Desk) -> tuple[Round, ...]:
    """The rounds before this attempt, which may have been asked for before and killed."""
    return tuple(each for each in await load_rounds(brief, desk) if each.attempt != brief.attempt)


async def find_last(brief: Brief, desk: Desk) -> Round | None:
    """The latest round; None when the run has none."""
    rounds = await load_rounds(brief, desk)
    return rounds[-1] if rounds else None


async def find_known_failure(brief: Brief, desk: Desk) -> str:
    """Why the work is shown although something does not pass; empty when everything has passed."""
    last = await find_last(brief, desk)
    return last.ruling.reason if last is not None and last.is_known_to_fail else ""


async def keep_round(brief: Brief, desk: Desk, made: Round) -> None:
    """Put the round behind the earlier ones; that of the same attempt is replaced."""
    rounds = (*await load_earlier(brief, desk), made)
    await desk.artefacts.save(brief.run.id, VERDICT, describe_rounds(rounds))
