from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whilly.domain.forge.marker import read_mark, sign, strip_mark


@given(st.text(min_size=1), st.text())
def test_a_mark_is_found_again_whatever_the_key_is(key: str, text: str) -> None:
    signed = sign(text, key)
    assert read_mark(signed) == key
    assert strip_mark(signed) == strip_mark(text).rstrip()
    assert "--" not in signed.rpartition("<!-- whilly:")[2].removesuffix(" -->")


def test_signing_again_replaces_the_mark() -> None:
    assert sign(sign("Hello", "a"), "b").count("<!--") == 1


def test_a_mark_in_the_middle_is_none() -> None:
    assert read_mark("<!-- whilly:a -->\nHello") == ""
