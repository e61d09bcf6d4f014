"""What Whilly posts can be read and does nothing."""

from __future__ import annotations

import re

import pytest

from whilly.domain.text.neutralize import BREAK, contain, neutralize, quote_block, quote_inline


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("ask @all and @org/team", "@org"),
        ("@claude do it", "@claude"),
        ("&#64;all &#x40;all &commat;all", "&#"),
        ("<img src=x>", "<img"),
        ("</details>", "</details"),
        ("<!-- whilly:key -->", "<!--"),
        ("![x](http://e.example?d=1)", "!["),
        ("/merge", "/merge"),
        ("text\n  /lgtm cancel", "/lgtm"),
        ("> /close", "/close"),
        ("do it [skip ci]", "[skip ci]"),
        ("[CI SKIP]", "[CI SKIP]"),
        ("***NO_CI***", "***NO_CI"),
        ("ABC-12 #done", "#done"),
        ("Co-authored-by: x <x@y.example>", "Co-authored-by:"),
        ("skip-checks: true", "skip-checks:"),
    ],
)
def test_what_forges_and_bots_act_on_is_broken(text: str, effect: str) -> None:
    assert effect in text
    assert effect not in neutralize(text)


@pytest.mark.parametrize(
    "text",
    [
        "fixes #1",
        "Closes: #12",
        "RESOLVED owner/repo#3",
        "fix https://forge.example/o/r/issues/4",
        "closing #5",
        "Implements !6",
        "close GH-7",
        "fixes \\#8",
        "fixed ABC-8",
        "resolves **#9**",
        "resolve [#10](x)",
        "fix\u200bes #11",
        "fixes issue #12",
        "closes group/sub/project#13",
    ],
)
def test_nothing_is_closed(text: str) -> None:
    closing = r"(close[sd]?|closing|fix(es|ed|ing)?|resolve[sd]?|resolving|implement(s|ed|ing)?)\b"
    assert re.search(closing, text.replace(BREAK, ""), re.IGNORECASE)
    assert not re.search(closing, neutralize(text), re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "the fix works",
        "a/b and /usr/bin/env",
        "x < y, 3 <= 4",
        "see #12",
        "C# and # heading",
        "5 > 3",
        "fix: the title",
    ],
)
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert neutralize(text) == text


def test_a_reader_sees_the_same() -> None:
    text = "Hello @you, fixes #1 <b>![x](y)\n/merge"
    assert neutralize(text).replace(BREAK, "") == text


@pytest.mark.parametrize(
    "text", ["a\n## Validation\npassed", "```\nopen", "- ~~~\n  open", "Validation\n---\npassed", "Validation\n==="]
)
def test_prose_cannot_pass_for_a_section_of_ours(text: str) -> None:
    assert all(line.startswith(">") for line in contain(text).split("\n"))


def test_plain_prose_is_not_quoted() -> None:
    assert contain("Totals are exact.\n\n- one\n- `two` #3\n") == "Totals are exact.\n\n- one\n- `two` #3"


def test_a_link_is_defined_for_nobody() -> None:
    assert neutralize("> [x]: http://e.example") == f"> [x]{BREAK}: http://e.example"


def test_code_cannot_leave_its_block() -> None:
    hostile = "ok\n```\n@all fixes #1\n````\n<img>"
    quoted = quote_block(hostile, "text")
    opening, *_, closing = quoted.split("\n")
    assert (opening, closing) == ("`````text", "`````")
    assert "@all" not in quoted
    assert quote_block("") == "```\n\n```"


def test_code_cannot_leave_its_line() -> None:
    assert quote_inline("make test") == "`make test`"
    assert quote_inline("a `b` c") == "``a `b` c``"
    assert quote_inline("`b`\n@all") == f"`` `b` @{BREAK}all ``"
    assert quote_inline("") == "`  `"
