from __future__ import annotations

import re
from pathlib import Path

import pytest

from whilly.domain.failure import read_failure

DATA = Path(__file__).parents[2] / "data" / "failures"


def print_of(text: str, root: str = "/home/ada/project") -> str:
    return read_failure("make test", 1, text, root=root).fingerprint


def load(name: str) -> str:
    return (DATA / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "pattern", "replacement"),
    [
        ("pytest_long", r"0x[0-9a-f]+", "0x55d0c0ffee00"),
        ("pytest_long", r"in \d+\.\d+s", "in 94.21s"),
        ("pytest_long", r"test_calc\.py:(\d+)", r"test_calc.py:9\1"),
        ("pytest_long", r"pytest-of-\w+/pytest-\d+", "pytest-of-bob/pytest-4711"),
        ("pytest_long", r"noise 0x7f8812ab", "other noise"),
        ("pytest_long", r"collected 7 items", "collected 700 items"),
        ("unittest", r"line \d+", "line 1234"),
        ("unittest", r"in 0\.001s", "in 3.5s"),
        ("go_test", r"\(0\.0\ds\)", "(7.31s)"),
        ("go_test", r"_test\.go:\d+", "_test.go:77"),
        ("cargo_test", r"\(2\d+\) panicked", "(991) panicked"),
        ("cargo_test", r"lib\.rs:\d+:\d+", "lib.rs:1:2"),
        ("cargo_test", r"finished in [\d.]+s", "finished in 9.99s"),
        ("node_test", r"duration_ms:? [\d.]+", "duration_ms: 1.5"),
        ("node_test_spec", r"\([\d.]+ms\)", "(99.9ms)"),
        ("jest", r"Time: .*", "Time:        88 s"),
        ("jest", r"\(\d ms\)", "(771 ms)"),
    ],
)
def test_what_changes_from_run_to_run_does_not_count(name: str, pattern: str, replacement: str) -> None:
    before = load(name)
    after = re.sub(pattern, replacement, before)
    assert after != before
    assert print_of(after) == print_of(before)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pytest_long", "assert -1 == 3", "assert -2 == 3"),
        ("pytest_long", "FAILED tests/test_calc.py::test_tmp", "FAILED tests/test_calc.py::test_other"),
        ("pytest_missing", "requests_not_there", "another_module"),
        ("unittest", "AssertionError: -1 != 3", "AssertionError: 0 != 3"),
        ("unittest", "FAIL: test_add", "FAIL: test_sub"),
        ("go_test", "got 1, want 5", "got 2, want 5"),
        ("go_build", "undefined: missingName", "undefined: otherName"),
        ("cargo_test", "  left: 1", "  left: 2"),
        ("cargo_test", "no luck at", "luck at"),
        ("cargo_compile", "E0583", "E0584"),
        ("jest", "Received: 1", "Received: 2"),
        ("jest", "adds numbers", "adds other numbers"),
        ("node_test", "not ok 1 - adds", "not ok 1 - subtracts"),
        ("tsc", "'string' is not", "'boolean' is not"),
        ("sh_not_found", "pytset", "pytest"),
        ("traceback_chained", "cannot read the settings", "cannot write the settings"),
    ],
)
def test_another_test_or_message_counts(name: str, old: str, new: str) -> None:
    before = load(name)
    assert old in before
    assert print_of(before.replace(old, new)) != print_of(before)


def test_the_order_of_tests_does_not_count() -> None:
    lines = ["FAILED t.py::test_a - assert 1 == 2", "FAILED t.py::test_b - assert 2 == 3"]
    assert print_of("\n".join(lines)) == print_of("\n".join(reversed(lines)))


def test_the_checkouts_own_path_does_not_count() -> None:
    text = 'Traceback (most recent call last):\n  File "{0}/a.py", line 1, in f\nOSError: no file {0}/data\n'
    first, second = "/x/.whilly/checkouts/run-1-2", "/x/.whilly/checkouts/run-1-14"
    assert print_of(text.format(first), first) == print_of(text.format(second), second)


def test_dates_ids_and_ports_do_not_count() -> None:
    text = "ValueError: {} request {} to localhost:{} in /tmp/tmp{}/x"
    one = text.format("2026-01-02T03:04:05Z", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", 1234, "ab12cd")
    two = text.format("2027-11-12 23:59:59.123", "00000000-8b86-d011-b42d-00cf4fc964ff", 9, "zz99xx")
    assert print_of(one) == print_of(two)


def test_the_command_and_the_exit_code_count() -> None:
    cases: list[tuple[str, int | None]] = [("a", 1), ("a", 2), ("b", 1), ("a", None)]
    prints = {read_failure(command, code, "same").fingerprint for command, code in cases}
    assert len(prints) == 4
