from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from whilly.domain.claims import Refused, covers, normalize, outside, overlaps

NAMES = ["a", "b", "ab", "src", "x-y"]
FILES = ["a.py", "b.py", "ab.md", "README.md", *NAMES]
WILDCARDS = ["*", "**", "?", "a*", "*b", "[ab]", "[!a]", "[^b]*", "?b", "*.py", "a.*", "[ab].py", "**/**"]

PATHS = st.tuples(st.lists(st.sampled_from(NAMES), max_size=3), st.sampled_from(FILES)).map(
    lambda path: "/".join([*path[0], path[1]])
)
CLAIMS = st.lists(st.sampled_from([*FILES, *WILDCARDS]), min_size=1, max_size=4).map("/".join)


def normal(claim: str) -> str:
    found = normalize(claim)
    assert isinstance(found, str)
    return found


def matches(pattern: list[str], parts: list[str]) -> bool:
    """The definition, spelled out: does the path, or a folder that it lies in, match?"""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(matches(pattern[1:], parts[skipped:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0].replace("[^", "[!")) and matches(pattern[1:], parts[1:])


@given(CLAIMS, PATHS)
def test_a_claim_covers_what_the_definition_says(claim: str, path: str) -> None:
    expected = matches([] if normal(claim) == "." else normal(claim).split("/"), path.split("/"))
    assert covers(normal(claim), path) is expected
    assert outside([path], [normal(claim)]) == (() if expected else (path,))


@given(CLAIMS, CLAIMS, PATHS)
@example("src/**/b.py", "**/a/*", "src/a/b.py")
@example("[^b]*", "a", "a")
def test_claims_that_cover_one_path_overlap(a: str, b: str, path: str) -> None:
    if covers(normal(a), path) and covers(normal(b), path):
        assert overlaps(normal(a), normal(b))


@given(CLAIMS, CLAIMS)
def test_overlap_has_no_direction_and_every_claim_meets_itself(a: str, b: str) -> None:
    assert overlaps(normal(a), normal(b)) is overlaps(normal(b), normal(a))
    assert overlaps(normal(a), normal(a))


@given(PATHS, PATHS)
def test_plain_paths_overlap_only_when_one_contains_the_other(a: str, b: str) -> None:
    first, second = a.split("/"), b.split("/")
    shorter = min(len(first), len(second))
    assert overlaps(a, b) is (first[:shorter] == second[:shorter])


@given(st.text(max_size=30) | st.lists(st.sampled_from(["a", "..", ".", "", "**", "*"]), max_size=8).map("/".join))
def test_the_normal_spelling_is_its_own_and_stays_inside(written: str) -> None:
    found = normalize(written)
    if isinstance(found, Refused):
        assert found.path == written
        return
    assert normalize(found) == found
    assert not found.startswith("/")
    assert ".." not in found.split("/")
