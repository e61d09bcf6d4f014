"""Whether a pull request is a draft, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.failure.verdict import Ruling
    from whilly.domain.intake.readiness import Judgement
    from whilly.domain.intake.strategy import Approach, Proof


def find_draft_reasons(
    judgement: Judgement,
    approach: Approach,
    ruling: Ruling,
    missing: Iterable[tuple[Proof, str]] = (),
    policy: Iterable[str] = (),
) -> tuple[str, ...]:
    """Why a pull request is a draft; empty when it may be offered as finished.

    Args:
        judgement: of the issue.
        approach: how it was worked on.
        ruling: what its checks came to.
        missing: proofs that the change does not give.
        policy: why the repository's rules want a person to look first, such as a change of the CI's configuration.
    """
    reasons = []
    if not judgement.is_sure:
        reasons.append(f"it is not sure that this is what is wanted (confidence {judgement.confidence:.2f})")
    if approach.is_draft:
        reasons.append(f"the strategy {approach.strategy} always asks for a look")
    if ruling.verdict != "pass":
        reasons.append(f"it is not finished: {ruling.reason}")
    return (*reasons, *(why for _, why in missing), *policy)
