"""Secrets are found in every form in which they turn up, and nothing else is."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whilly.domain.redaction import MASK, RedactedStream, Redactor, find_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = 's3cr3t/with+odd "chars" & ünïcode'  # noqa: S105  (made up)
RAW = SECRET.encode()
REDACTOR = Redactor([SECRET])
FORMS = {
    "itself": SECRET,
    "json": json.dumps(SECRET)[1:-1],
    "url": quote(SECRET),
    "url, slashes too": quote(SECRET, safe=""),
    "hex": RAW.hex(),
    "HEX": RAW.hex().upper(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_known_secret_is_found(form: str) -> None:
    cleaned = REDACTOR.clean(f"before {form} after")
    assert MASK in cleaned
    assert form not in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", [b"", b"x", b"xy", b"xyz"])
@pytest.mark.parametrize("after", [b"", b"x", b"xy"])
def test_it_is_found_in_base64_whatever_stands_beside_it(
    encode: Callable[[bytes], bytes], before: bytes, after: bytes
) -> None:
    coded = encode(before + RAW + after).decode()
    cleaned = REDACTOR.clean(f"see {coded} there")
    assert MASK in cleaned
    assert coded[5:-5] not in cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("git clone https://ada:hunter2hunter2@example.org/x.git", f"git clone https://{MASK}@example.org/x.git"),
        ("postgresql+psycopg://u:p@127.0.0.1/db", f"postgresql+psycopg://{MASK}@127.0.0.1/db"),
        ("Authorization: Bearer abcdefgh12345678", f"Authorization: {MASK}"),
        ('{"authorization": "Basic YWRhOmh1bnRlcjI="}', f'{{"authorization": "{MASK}"}}'),
        (f"token ghp_{'a1B2' * 9} used", f"token {MASK} used"),
        (f"key sk-ant-{'x' * 40}", f"key {MASK}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest", f"{MASK}\nrest"),
    ],
)
def test_what_looks_like_one_is_found_too(text: str, cleaned: str) -> None:
    assert Redactor([]).clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a@b",
        "see user@example.org: it is at http://localhost:8080/path",
        "the authorization was refused",
        "sk-short",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "<promise>COMPLETE</promise>",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert REDACTOR.clean(text) == text


def test_secrets_are_told_by_the_names_of_their_variables() -> None:
    environment = {
        "ANTHROPIC_API_KEY": "one-long-secret",
        "GH_TOKEN": "two-long-secret",
        "DB_PASSWORD": "three-long-secret",
        "SSH_AUTH_SOCK": "/run/agent.sock",
        "TOKEN_FILE": "/run/token",
        "HOME": "/home/ada",
        "KEYBOARD": "qwertzuiop",
        "GIT_AUTHOR_NAME": "Ada Lovelace",
        "XAUTHORITY": "/home/ada/.Xauthority",
    }
    assert find_secrets(environment) == ["one-long-secret", "two-long-secret", "three-long-secret"]


def test_a_short_value_is_no_secret_but_a_word() -> None:
    assert Redactor(["yes", "1", ""]).clean("yes, 1") == "yes, 1"


@given(st.lists(st.integers(1, 60), max_size=30), st.sampled_from(sorted(FORMS.values())))
def test_a_secret_that_is_cut_in_pieces_is_found(lengths: list[int], form: str) -> None:
    text = f"{'x' * 40} {form} {'y' * 40}"
    stream, shown, start = RedactedStream(REDACTOR), "", 0
    for length in lengths:
        shown += stream.feed(text[start : start + length])
        start += length
    shown += stream.feed(text[start:]) + stream.flush()
    assert form not in shown
    assert MASK in shown
    assert shown.startswith("x" * 40)
    assert shown.endswith("y" * 40)
