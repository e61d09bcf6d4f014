from __future__ import annotations

import pytest

from whilly.domain.claims import ROOT, Refused, covers, normalize, outside, overlaps


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("a.py", "a.py"),
        ("./a.py", "a.py"),
        ("src\\whilly\\a.py", "src/whilly/a.py"),
        ("src/", "src"),
        ("src//a.py", "src/a.py"),
        ("src/./a.py", "src/a.py"),
        ("src/../docs/a.md", "docs/a.md"),
        ("src/**", "src"),
        ("src/**/", "src"),
        ("src/**/*.py", "src/**/*.py"),
        (".", ROOT),
        ("./", ROOT),
        ("**", ROOT),
        ("a/..", ROOT),
        ("  src/a.py ", "src/a.py"),
        (".github/workflows", ".github/workflows"),
        ("..hidden", "..hidden"),
        ("docs/ファイル.md", "docs/ファイル.md"),
        ("e\u0301.md", "\u00e9.md"),
    ],
)
def test_a_claim_has_one_spelling(written: str, normal: str) -> None:
    assert normalize(written) == normal


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("../other/a.py", "leaves the repository"),
        ("..", "leaves the repository"),
        ("src/../../a.py", "leaves the repository"),
        ("..\\a.py", "leaves the repository"),
        ("/etc/passwd", "is absolute; it must be relative to the repository's root"),
        ("C:\\work\\a.py", "is absolute; it must be relative to the repository's root"),
        ("c:a.py", "is absolute; it must be relative to the repository's root"),
        ("\\\\host\\share", "is absolute; it must be relative to the repository's root"),
        ("~/a.py", "is absolute; it must be relative to the repository's root"),
        ("", "is empty"),
        ("   ", "is empty"),
        ("a\x00.py", "contains a control character"),
        ("a\n.py", "contains a control character"),
        ("**/../a.py", "has `..` after a wildcard, so it cannot be told where it leads"),
    ],
)
def test_what_cannot_be_a_claim_is_refused_with_the_reason(written: str, reason: str) -> None:
    assert normalize(written) == Refused(written, reason)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/b.py", False),
        ("src/a.py", "src/A.py", False),
        ("src", "src/a.py", True),
        ("src", "src2/a.py", False),
        ("src/a", "src/ab", False),
        ("conf.d", "conf.d/a.conf", True),
        (ROOT, "src/a.py", True),
        (ROOT, "**/*.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/sub/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**/*.py", "src/x/y", True),
        ("src/**/*.py", "src/notes.md", False),
        ("src/**/*.py", "docs", False),
        ("**/test_*.py", "tests/unit", True),
        ("**/test_*.py", "src/app.py", False),
        ("src/*", "src/x/y/z.py", True),
        ("src/?.py", "src/a.py", True),
        ("src/?.py", "src/ab.py", False),
        ("src/[ab].py", "src/b.py", True),
        ("src/[ab].py", "src/c.py", False),
        ("src/[!ab].py", "src/c.py", True),
        ("src/[^ab].py", "src/a.py", False),
        ("src/[!ab].py", "src/a.py", False),
        ("src/a*.py", "src/*b.py", True),
        ("src/*.py", "src/*.md", False),
        ("src/a*", "src/b*", False),
        ("src/**/x.py", "src/a/**/x.py", True),
        ("a/**/b.py", "c/**/b.py", False),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("app/[id]/page.tsx", "app/[id]", True),
        ("app/[id]/page.tsx", "app/i/page.tsx", True),
        ("a/[x", "a/[x", True),
        ("a/[*", "a/[x", True),
        ("a/[*]", "a/*", True),
        ("a/[*]", "a/b", False),
    ],
)
def test_claims_overlap_when_a_path_can_be_in_both(a: str, b: str, expected: bool) -> None:  # noqa: FBT001  (a table)
    assert (overlaps(a, b), overlaps(b, a)) == (expected, expected)


def test_many_wildcards_are_compared_in_reasonable_time() -> None:
    assert not overlaps("*a" * 60 + "b.py", "*a" * 60 + "c.py")


@pytest.mark.parametrize(
    ("claim", "path", "expected"),
    [
        ("src", "src/deep/a.py", True),
        ("src", "srcs/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*", "src/deep/a.py", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("**/*.py", "x/y/a.md", False),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("app/[id]/page.tsx", "app/d/page.tsx", True),
        ("app/[id]/page.tsx", "app/x/page.tsx", False),
        ("[ab]", "[ab]", True),
        ("?", "*", True),
        ("[ab]", "*", False),
        (ROOT, "anything", True),
    ],
)
def test_a_claim_covers_what_it_matches_and_everything_beneath(claim: str, path: str, expected: bool) -> None:  # noqa: FBT001  (a table)
    assert covers(claim, path) is expected


def test_what_was_changed_outside_the_claims_is_reported_in_its_order() -> None:
    changed = ["z.md", "src/a.py", "docs/deep/b.md", "README.md", "e\u0301.md"]
    assert outside(changed, ("src", "docs/**/*.md", "\u00e9.md")) == ("z.md", "README.md")


def test_an_item_without_claims_is_outside_with_everything() -> None:
    assert outside(["a.py"], ()) == ("a.py",)
