"""Which final messages claim that the work is done."""

from __future__ import annotations

import pytest

from whilly.domain.session import COMPLETION_MARKER, claims_completion


@pytest.mark.parametrize(
    "message",
    ["{}", "Done {}", "All tests pass. {}", "Changed a.py:\n- one\n\n  {}  \n\n", "Is that all? Yes!\n{}", "✅ {}"],
)
def test_the_marker_at_the_end_is_a_claim(message: str) -> None:
    assert claims_completion(message.format(COMPLETION_MARKER))


@pytest.mark.parametrize(
    "message",
    [
        "",
        "done",
        "{}\nBut the tests fail.",
        "I could not do it, so I do not write {}",
        "> {}",
        "`{}`",
        '"{}',
        "I was told to end with {}",
        "I will say {} when it is done.",
        "x{}y",
    ],
)
def test_quoting_it_is_not(message: str) -> None:
    assert not claims_completion(message.format(COMPLETION_MARKER))
