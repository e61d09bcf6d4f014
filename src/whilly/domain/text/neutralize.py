"""Makes other people's text, and agents' text, harmless before Whilly posts it: it can be read and does nothing.

A forge acts on what is written: it notifies who is mentioned, closes what is said to be fixed, fetches pictures,
renders HTML, skips checks; bots obey lines that begin with a slash. A zero-width space breaks each of these where a
forge would recognise it. It is put in everywhere, in code too: bots search the raw text, and forges differ in what
code is.
"""

from __future__ import annotations

import re
from typing import Final

from whilly.domain.text.clean import clean

BREAK: Final = "\N{ZERO WIDTH SPACE}"

_REFERENCE = (
    r"(?=[\s:(\[*_`\\]{0,4}(?:(?:issues?|bugs?|prs?|pull requests?|merge requests?)[\s:]{1,3})?"
    r"(?:[#!]\d|gh-\d|[a-z][a-z0-9]{1,20}-\d|[\w.-]{1,100}(?:/[\w.-]{1,100}){1,8}[#!]\d|https?://|\[))"
)
_RULES: Final = (
    # A mention, whoever is meant; an address goes the same way, because bots look for their name in the raw text.
    (re.compile(r"@(?=[\w\[])"), f"@{BREAK}"),
    # Written as `&#64;all` it is a mention all the same.
    (re.compile(r"&(?=#?\w{1,31};)"), f"&{BREAK}"),
    # A tag, a comment, a declaration: raw HTML, and the markers that Whilly itself leaves.
    (re.compile(r"<(?=[A-Za-z/!?])"), f"<{BREAK}"),
    (re.compile(r"!(?=\[)"), f"!{BREAK}"),
    (
        re.compile(
            r"\b(?P<head>close|clos|fixe|fix|resolve|resolv|implement)(?P<tail>s|d|ing|ed|es)?\b" + _REFERENCE,
            re.IGNORECASE,
        ),
        lambda found: f"{found[0][:2]}{BREAK}{found[0][2:]}",
    ),
    # `KEY-1 #done`: Jira moves the ticket.
    (re.compile(r"#(?=[A-Za-z])"), f"#{BREAK}"),
    (re.compile(r"^(?P<before>[ \t>*-]*)/(?=[A-Za-z])(?![\w.-]*/)", re.MULTILINE), rf"\g<before>/{BREAK}"),
    (
        re.compile(r"\[(?=(?:skip[ -](?:ci|actions|cd|checks)|(?:ci|actions|cd)[ -]skip|no[ -]ci)\])", re.IGNORECASE),
        f"[{BREAK}",
    ),
    (re.compile(r"\*\*\*(?=NO_CI)"), f"***{BREAK}"),
    # A link's definition holds for all of the page, for "[x]" too.
    (re.compile(r"^(?P<label>[ \t>*+-]*\[[^\]\n]{1,200}\]):", re.MULTILINE), rf"\g<label>{BREAK}:"),
    # Trailers: a foreign co-author, a sign-off, skipped checks.
    (re.compile(r"^(?P<name>[A-Za-z]+(?:-[A-Za-z]+)+):(?=[ \t])", re.MULTILINE), rf"\g<name>{BREAK}:"),
)


_STRUCTURE = re.compile(r"```|~~~|^[ \t>*+\d.)-]*#{1,6}(?:\s|$)|^[ \t]*(?:=+|-{2,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)


def neutralize(text: str) -> str:
    """`text` cleaned, and without effect on forges and bots; a reader sees no difference.

    Neutralising twice is the same as once.
    """
    text = clean(text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def contain(text: str) -> str:
    """`text` as prose that ends where it ends: what could open a block or pass for a heading of ours is quoted."""
    plain = neutralize(text).strip()
    return "\n".join(f"> {line}".rstrip() for line in plain.split("\n")) if _STRUCTURE.search(plain) else plain


def quote_inline(text: str) -> str:
    """`text` as a span of code in one line, which it cannot leave."""
    plain = neutralize(" ".join(text.split()))
    ticks = "`" * (_longest_run(plain) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") or not plain else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def quote_block(text: str, language: str = "") -> str:
    """`text` as a block of code, which it cannot leave."""
    plain = neutralize(text).strip("\n")
    ticks = "`" * max(3, _longest_run(plain) + 1)
    return f"{ticks}{language}\n{plain}\n{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall(r"`+", text)), default=0)
