"""Whether a pull request is a draft, after all that Whilly and people have done to it."""

from __future__ import annotations

import pytest

from whilly.domain.delivery.draft import Offer, offer_again, offer_first

READY, DRAFT = Offer(is_draft=False), Offer(is_draft=True, because=("a",))
ACCEPTED = Offer(is_draft=False, accepted=("a",))
UNTOLD = Offer(is_draft=True)
"""By a rule or by a person."""
WITHOUT = Offer(is_draft=False, because=("a",))
"""Where the forge has no drafts."""


SEEN = f"the tests of the change pass on main ({'a' * 12}) as well"
SEEN_LATER = SEEN.replace("a" * 12, "b" * 12)


@pytest.mark.parametrize(
    ("reasons", "rule", "offer"),
    [
        ([], None, READY),
        (["a"], None, DRAFT),
        (["a"], False, READY),
        (["a"], True, DRAFT),
        ([], True, UNTOLD),
    ],
)
def test_it_is_a_draft_for_reasons_or_by_rule(reasons: list[str], rule: bool | None, offer: Offer) -> None:  # noqa: FBT001  (a parameter of a test)
    assert offer_first(reasons, rule) == offer


@pytest.mark.parametrize(
    ("before", "is_draft", "reasons", "rule", "offer"),
    [
        (READY, False, [], None, READY),
        (READY, False, ["a"], None, DRAFT),
        (READY, False, ["a"], False, READY),
        (READY, False, [], True, READY),
        (READY, True, [], None, UNTOLD),
        (UNTOLD, True, [], None, UNTOLD),
        (READY, True, ["a"], None, DRAFT),
        (DRAFT, True, ["a"], None, DRAFT),
        (DRAFT, True, [], None, READY),
        (DRAFT, True, [], True, UNTOLD),
        (DRAFT, False, ["a"], None, ACCEPTED),
        (DRAFT, False, [], None, ACCEPTED),
        (DRAFT, False, ["a", "b"], None, Offer(is_draft=True, because=("b",), accepted=("a",))),
        (ACCEPTED, False, ["a"], None, ACCEPTED),
        (ACCEPTED, False, ["b"], None, Offer(is_draft=True, because=("b",), accepted=("a",))),
        (UNTOLD, False, [], True, READY),
        (Offer(is_draft=False, accepted=(SEEN,)), False, [SEEN_LATER], None, Offer(is_draft=False, accepted=(SEEN,))),
        (WITHOUT, False, ["a"], None, WITHOUT),
        (WITHOUT, False, [], None, READY),
    ],
)
def test_people_decide_until_something_new_comes_up(
    before: Offer,
    reasons: list[str],
    rule: bool | None,  # noqa: FBT001  (a parameter of a test)
    offer: Offer,
    *,
    is_draft: bool,
) -> None:
    assert offer_again(before, reasons, rule, is_draft=is_draft) == offer
