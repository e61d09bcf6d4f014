"""A test that was made weaker is seen; one that was made better is not taken for it."""

from __future__ import annotations

import pytest

from whilly.domain.trust.weakening import find_weakening, is_test

OLD = "import pytest\n\ndef test_a():\n    assert f() == 1\n\ndef test_b():\n    assert g() == 2\n    assert h()\n"
GO = "func TestA(t *T) {\n"


def signs(path: str, before: str | None, after: str | None) -> list[str]:
    return [each.sign for each in find_weakening(path, before, after)]


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("tests/test_a.py", OLD, None, ["deleted"]),
        ("tests/test_a.py", OLD, OLD.replace("def test_a", "@pytest.mark.skip\ndef test_a"), ["skipped"]),
        ("tests/test_a.py", OLD, OLD.replace("def test_b", "@pytest.mark.xfail(strict=True)\ndef test_b"), ["skipped"]),
        ("tests/test_a.py", OLD, OLD.replace("assert f", "pytest.skip('x')\n    assert f"), ["skipped"]),
        ("tests/test_a.py", OLD, OLD.replace("def test_b", "def check_b"), ["fewer_tests"]),
        ("tests/test_a.py", OLD, OLD.replace("    assert h()\n", ""), ["fewer_assertions"]),
        ("tests/conftest.py", None, "import os\ndef pytest_sessionfinish():\n    os._exit(0)\n", ["forced_result"]),
        ("tests/conftest.py", "", "collect_ignore = ['test_a.py']\n", ["skipped"]),
        ("web/a.test.js", "it('a', () => expect(1))", "it.skip('a', () => expect(1))", ["skipped", "fewer_tests"]),
        ("pkg/a_test.go", f"{GO} t.Fatal(1)", f"{GO} t.Skip()", ["skipped", "fewer_assertions"]),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest || true\n", ["silenced"]),
        (".github/workflows/a.yml", "- run: x\n", "- run: x\n  continue-on-error: true\n", ["silenced"]),
    ],
)
def test_a_weaker_test_is_seen(path: str, before: str | None, after: str | None, expected: list[str]) -> None:
    assert signs(path, before, after) == expected


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("tests/test_a.py", OLD, OLD + "\ndef test_c():\n    assert True\n"),
        ("tests/test_a.py", OLD, OLD.replace("== 1", "== 2")),
        ("tests/test_a.py", None, OLD),
        ("tests/test_a.py", OLD.replace("def test_a", "@pytest.mark.skip\ndef test_a"), OLD),
        ("src/a.py", "import sys\n", "import sys\nsys.exit(0)\n"),
        ("README.md", "", "`make test || true`"),
        ("tests/data/a.txt", "words", None),
    ],
)
def test_what_is_no_weakening_is_left_alone(path: str, before: str | None, after: str | None) -> None:
    assert signs(path, before, after) == []


@pytest.mark.parametrize(
    "path",
    [
        *("shop/tests.py", "test.py", "src/main/FooTest.java", "Shop/FooTests.cs", "foo_tests.py", "FooSpec.scala"),
        *("tests/a.py", "a_test.go", "a.spec.ts", "test_a.py", "conftest.py", "lib/a_spec.rb"),
    ],
)
def test_tests_are_known_by_their_names(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path", ["src/contest.py", "latest.py", "Attest.java", "testing.py", "src/Test/a.py", "spec.md"]
)
def test_other_names_are_none(path: str) -> None:
    assert not is_test(path)
