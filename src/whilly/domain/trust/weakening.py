"""Signs that a change makes tests weaker instead of code right: skipped, emptied, silenced.

They are signs, not proof: a test may be skipped for a good reason. The proof is the base's version of the tests on the
head; this says where to look.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SKIPS: Final = re.compile(
    r"@(?:pytest\.mark\.(?:skip|xfail)|unittest\.(?:skip|expectedFailure)|skip|expectedFailure|Disabled|Ignore)\w*"
    r"|\bpytest\.(?:skip|xfail|importorskip)\(|\bself\.skipTest\(|\bcollect_ignore(?:_glob)?\b"
    r"|\b(?:it|test|describe|context)\.(?:skip|todo|only)\b|\b(?:xit|xtest|xdescribe|fit|fdescribe)\s*\("
    r"|\bt\.Skip(?:f|Now)?\(|#\[ignore\b|\bskip\s+['\"]|\bpending\s+['\"]"
)
_TESTS: Final = re.compile(
    r"^\s*(?:async\s+)?def\s+test\w*|^\s*(?:it|test|specify)\s*\(|^\s*it\s+['\"]|^\s*func\s+Test\w+|#\[(?:\w+::)?test\]"
    r"|^\s*@Test\b",
    re.MULTILINE,
)
_ASSERTIONS: Final = re.compile(
    r"\bassert\w*!?\b|\bexpect\s*\(|\bself\.assert\w+|\bpytest\.raises\b|\bt\.(?:Error|Fatal)f?\("
    r"|\brequire\.\w+\(|\.should\b"
)
_SILENT: Final = re.compile(
    r"\|\|\s*(?:true|:)(?!\w)|--exit-zero\b|--passWithNoTests\b|continue-on-error:\s*true|allow_failure:\s*true"
    r"|\bset \+e\b"
)
_FORCED_END: Final = re.compile(
    r"\bos\._exit\(|\bsys\.exit\(\s*0?\s*\)|\bpytest\.exit\(|\bprocess\.exit\(\s*0?\s*\)"
    r"|\bexitstatus\s*=|\breport\.outcome\s*="
    r"|\bdef pytest_(?:sessionfinish|runtest_makereport|collection_modifyitems)\b"
)
_MANIFEST: Final = re.compile(
    r"(?:^|/)(?:setup\.cfg|pyproject\.toml|package\.json|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?)$"
)
_RUNNER: Final = re.compile(
    r"(?:^|/)(?:Makefile|GNUmakefile|makefile|justfile|tox\.ini|noxfile\.py|pytest\.ini|conftest\.py)$|^\.ci/"
    r"|(?:^|[/_.-])(?:tests?|checks?|ci|lint|verify|spec)(?=[/_.-])(?:[^/]*/)*[^/]*\.sh$"
)
_BUILD: Final = re.compile(r"(?:^|/)(?:\.gitlab-ci\.yml|Jenkinsfile)$|^\.(?:github|gitea|forgejo)/workflows/|\.sh$")


_TEST: Final = re.compile(
    r"(^|/)(tests?|spec|__tests__)/|(^|/)(test_[^/]*|[^/]*_(tests?|spec)|tests?|[^/]*\.(test|spec))\.[^/]+$"
    r"|(^|/)[^/]*[a-z0-9](Tests?|Spec)\.[^/]+$|(^|/)conftest\.py$"
)


def is_test(path: str) -> bool:
    """Whether a path looks like a test, in the languages that are common."""
    return _TEST.search(path) is not None


def runs_tests(path: str) -> bool:
    """Whether a path looks like a test, or like what says how tests are run."""
    return is_test(path) or is_runner(path) or is_manifest(path) or _BUILD.search(path) is not None


def is_runner(path: str) -> bool:
    """Whether a path looks like what says how tests are run, and nothing else that a change may need."""
    return _RUNNER.search(path) is not None


def is_manifest(path: str) -> bool:
    """Whether a path names a package's dependencies, and often says how its tests are run as well."""
    return _MANIFEST.search(path) is not None


@dataclass(frozen=True, slots=True)
class Weakening:
    """One sign.

    Attributes:
        sign: a name for it; an API.
        why: for people.
    """

    path: str
    sign: str
    why: str


def find_weakening(path: str, before: str | None, after: str | None) -> Iterator[Weakening]:
    """The signs in one file of a change.

    Args:
        path: repository-relative.
        before: the file's text on the base; None when it is not there.
        after: the same on the head.
    """
    old, now = before or "", after or ""
    if is_test(path):
        yield from _compare_tests(path, before, after)
        if _count(_FORCED_END, now) > _count(_FORCED_END, old):
            yield Weakening(path, "forced_result", "it decides itself how the tests end")
    if runs_tests(path) and _count(_SILENT, now) > _count(_SILENT, old):
        yield Weakening(path, "silenced", "a failure there does not count any more")


def _compare_tests(path: str, before: str | None, after: str | None) -> Iterator[Weakening]:
    old, now = before or "", after or ""
    if before is not None and after is None:
        if _TESTS.search(before):
            yield Weakening(path, "deleted", f"{_count(_TESTS, before)} tests are gone")
        return
    if _count(_SKIPS, now) > _count(_SKIPS, old):
        yield Weakening(path, "skipped", "tests are skipped, or only some are run")
    if before is None:
        return
    if _count(_TESTS, now) < _count(_TESTS, old):
        yield Weakening(path, "fewer_tests", f"{_count(_TESTS, old)} tests became {_count(_TESTS, now)}")
    elif _count(_ASSERTIONS, now) < _count(_ASSERTIONS, old):
        why = f"{_count(_ASSERTIONS, old)} assertions became {_count(_ASSERTIONS, now)}"
        yield Weakening(path, "fewer_assertions", why)


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))
