"""Cleaning, neutralising and naming hold for any text."""

from __future__ import annotations

import re
import subprocess
import unicodedata

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from whilly.domain.text.clean import clean, clean_foreign
from whilly.domain.text.fence import make_fence
from whilly.domain.text.names import name_branch
from whilly.domain.text.neutralize import neutralize, quote_block

ANYTHING = st.text(st.characters(), max_size=60)
PIECES = st.sampled_from(
    [
        "<!--",
        "-->",
        "<!",
        "<?",
        "?>",
        "\n",
        " ",
        "@",
        "a",
        "fixes",
        "#1",
        "![",
        "`",
        "```",
        "/merge",
        "\x1b[",
        "\x1b]",
        "\u200d",
        "\ufe0f",
        "é",
        "\ud800",
        "<![CDATA[",
        "]]>",
        "\r",
        "~~~",
        "[x]: # (y)",
        "Co-by:",
        "\u200b",
        "\u00ad",
    ]
)
HOSTILE = st.lists(PIECES | st.characters(), max_size=30).map("".join)


STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine says nothing about the code."""


@STEADY
@given(HOSTILE | ANYTHING)
def test_cleaning_twice_changes_nothing_and_leaves_no_control(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert {each for each in cleaned if unicodedata.category(each) in {"Cc", "Cs"}} <= {"\n", "\t"}
    cleaned.encode()


@STEADY
@given(HOSTILE | ANYTHING)
def test_no_hidden_comment_is_left(text: str) -> None:
    cleaned = clean_foreign(text).text
    assert not re.search(r"<!--[\s\S]*?-->|^[ \t]{0,3}<!--", cleaned, re.MULTILINE)
    assert clean_foreign(cleaned).text == cleaned


@STEADY
@given(HOSTILE | ANYTHING)
def test_neutralising_twice_changes_nothing(text: str) -> None:
    harmless = neutralize(text)
    assert neutralize(harmless) == harmless
    assert not re.search(r"@\w|<[A-Za-z/!?]|!\[|^\s*/merge\b(?![\w.-]*/)", harmless, re.MULTILINE)


@STEADY
@given(HOSTILE | ANYTHING)
def test_a_block_of_code_ends_at_its_end(text: str) -> None:
    first, *inside, last = quote_block(text).split("\n")
    assert not any(line.lstrip().startswith(last) for line in inside)
    assert first == last


@STEADY
@given(st.lists(HOSTILE, max_size=4))
def test_a_fence_stands_in_no_text(texts: list[str]) -> None:
    assert not any(make_fence("run/1", texts) in text for text in texts)


@settings(STEADY, max_examples=150)
@given(
    st.text(max_size=120), st.integers(1, 10**12).map(str) | st.from_regex(r"\A[A-Z][A-Z0-9]{0,9}-[1-9][0-9]{0,4}\Z")
)
@example("@{-1}.lock", "1")
@example("a" * 33 + "-" * 5, "1")
def test_git_accepts_every_branch(title: str, key: str) -> None:
    branch = name_branch(key, title)
    assert branch.isascii()
    assert len(branch) <= 52
    done = subprocess.run(["git", "check-ref-format", "--branch", branch], check=False, capture_output=True)
    assert done.returncode == 0, branch
