"""Whether a pull request is a draft, why, and whose decision that is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


@dataclass(frozen=True, slots=True)
class Offer:
    """How a pull request is offered to people.

    Attributes:
        because: the reasons for a draft that its text names.
        accepted: reasons that a person has passed over, by making it ready all the same.
    """

    is_draft: bool
    because: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()

    @property
    def contradicts_itself(self) -> bool:
        """Whether its text calls it a draft, and it is none, because the forge has no drafts."""
        return bool(self.because) and not self.is_draft


def offer_first(reasons: Sequence[str], rule: bool | None) -> Offer:  # noqa: FBT001  (a setting that is on, off or neither)
    """How it is offered when it is opened.

    Args:
        reasons: for a draft.
        rule: what the settings say about all of them; None leaves it to the reasons.
    """
    is_draft = bool(reasons) if rule is None else rule
    return Offer(is_draft, tuple(reasons) if is_draft else ())


def offer_again(before: Offer, reasons: Sequence[str], rule: bool | None, *, is_draft: bool) -> Offer:  # noqa: FBT001  (as above)
    """How it is offered after more work on it. What a person has made ready stays so, unless a new reason comes up.

    Args:
        before: how Whilly has left it.
        reasons: for a draft, now.
        rule: as for `offer_first`.
        is_draft: whether it is one at the forge.
    """
    accepted = () if is_draft else (*before.accepted, *(before.because if before.is_draft else ()))
    known = {_strip(each) for each in accepted}
    wanted = offer_first([each for each in reasons if _strip(each) not in known], rule)
    if is_draft:
        # A draft that people have made of it stays one.
        is_ours = before.is_draft and bool(before.because)
        return Offer(wanted.is_draft or not is_ours, wanted.because)
    is_new = bool(wanted.because) and not before.contradicts_itself
    return Offer(is_new, wanted.because, accepted)


def _strip(reason: str) -> str:
    """The reason without the commit of the base, on which it was seen: it is the same on the next one."""
    return re.sub(r" \([0-9a-f]{12}\)", "", reason)
