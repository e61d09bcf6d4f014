from __future__ import annotations

from pathlib import Path

import pytest

from whilly.domain.failure import MAX_OUTPUT, read_failure

DATA = Path(__file__).parents[2] / "data" / "failures"
ROOT = "/home/ada/project"
SETUP = "make setup"


def read(name: str, command: str = "make test", code: int = 1) -> tuple[str, tuple[str, ...], str, str]:
    text = (DATA / f"{name}.txt").read_text(encoding="utf-8")
    found = read_failure(command, code, text, root=ROOT, setup=SETUP)
    return found.summary, found.hints, found.remedy, found.output


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pytest_long", "error: AssertionError: assert -1 == 3"),
        ("pytest_long", "raised at tests/test_calc.py:6"),
        ("pytest_long", "failing test: tests/test_calc.py::test_param[a b]"),
        ("pytest_color", "error: AssertionError: assert -1 == 3"),
        ("pytest_short", "raised at tests/test_calc.py:6 in test_add"),
        ("pytest_import_name", "missing name: substract in app.calc"),
        ("pytest_missing", "missing module: requests_not_there"),
        ("pytest_missing", "raised at tests/test_missing.py:1 in <module>"),
        ("unittest", "error: NameError: name 'undefined_thing' is not defined"),
        ("unittest", "raised at app/calc.py:10 in boom"),
        ("unittest", "missing name: undefined_thing"),
        ("unittest", "failing test: test_add (ut.CalcTest.test_add)"),
        ("traceback_chained", "error: RuntimeError: cannot read the settings"),
        ("traceback_chained", "raised at main.py:6 in run"),
        ("python_m_missing", "missing module: nothing_here"),
        ("node_missing", "raised at x.js:1 in Object.<anonymous>"),
        ("node_missing", "missing module: left-pad-not-there"),
        ("node_own", "missing module: ./lib/gone"),
        ("node_esm_missing", "missing module: not-a-package"),
        ("node_test", "failing test: adds"),
        ("node_test_spec", "missing name: undefinedThing"),
        ("jest", "failing test: sum › adds numbers"),
        ("jest", "raised at src/sum.test.js:5 in Object.toBe"),
        ("go_test", "failing test: TestTable/negative"),
        ("go_test", "error: calc_test.go:8: got 1, want 5"),
        ("go_build", "missing name: missingName"),
        ("go_build", "raised at calc.go:9"),
        ("go_missing", "missing module: github.com/pkg/errors"),
        ("cargo_test", "failing test: tests::adds"),
        ("cargo_test", "raised at src/lib.rs:10"),
        ("cargo_compile", "missing module: serde_missing"),
        ("cargo_compile", "missing name: missing_name"),
        ("tsc", "missing module: zod"),
        ("sh_not_found", "command pytset was not found"),
        ("bash_not_found", "command pytset was not found"),
    ],
)
def test_a_hint_is_read_from_a_tools_output(name: str, expected: str) -> None:
    assert expected in read(name)[1]


@pytest.mark.parametrize(
    "name",
    [
        "pytest_missing", "python_missing", "python_m_missing", "node_missing", "node_esm_missing", "jest_missing",
        "go_missing", "cargo_compile", "tsc", "sh_not_found", "bash_not_found",
    ],
)  # fmt: skip
def test_a_missing_dependency_is_mended_by_the_profiles_set_up(name: str) -> None:
    assert read(name)[2] == SETUP


@pytest.mark.parametrize(
    "name",
    ["pytest_own", "pytest_import_name", "pytest_long", "unittest", "node_own", "go_build", "cargo_test", "jest"],
)
def test_the_projects_own_faults_have_no_remedy(name: str) -> None:
    assert read(name)[2] == ""


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("pytest_long", "=================================== FAILURES", "5 failed, 2 passed"),
        ("unittest", "======", "FAILED (failures=1, errors=1)"),
        ("cargo_test", "failures:", "`--lib`"),
        ("cargo_compile", "error[E0583]", "due to 3 previous errors"),
        ("jest", "FAIL src/sum.test.js", "Ran all test suites."),
        ("traceback_chained", "Traceback", "RuntimeError: cannot read the settings"),
    ],
)
def test_the_output_is_the_tools_account_of_the_failure(name: str, start: str, end: str) -> None:
    output = read(name)[3]
    assert output.startswith(start)
    assert end in output.rstrip().rpartition("\n")[2]


def test_the_summary_is_one_line_with_the_command_and_what_failed() -> None:
    summary = read("pytest_long", "pytest  -q\n--tb=long")[0]
    assert summary.startswith("`pytest -q --tb=long` failed with exit code 1: tests/test_calc.py::test_add and 4 more")
    assert len(read("pytest_long", "x" * 5000)[0]) <= 300
    assert "\n" not in summary


def test_a_time_limit_is_told() -> None:
    found = read_failure("sleep 9", None, "", time_limit=1.5)
    assert found.summary == "`sleep 9` did not end within 1.5 s"
    assert found.exit_code is None


def test_without_output_there_is_still_a_summary() -> None:
    assert read_failure("false", 1, "").summary == "`false` failed with exit code 1"
    assert "not found" in read_failure("x", 127, "").summary


def test_escape_codes_progress_bars_and_nul_are_gone() -> None:
    raw = "\x1b]0;title\x07\x1b[1;31mred\x1b[0m\r\n 10%\r 50%\r100% done\nnul\x00bell\x07\ud800end\n"
    assert read_failure("x", 1, raw).output == "red\n100% done\nnulbellend\n"


def test_a_long_account_keeps_its_first_failure_and_its_end_and_cuts_between_lines() -> None:
    lines = "\n".join(f"E   assert {number} == 0" for number in range(5000))
    noise = "passing noise\n" * 1000
    found = read_failure("pytest", 1, f"{noise}===== FAILURES =====\n{lines}\n== 5000 failed ==\n").output
    assert len(found) <= MAX_OUTPUT
    assert found.startswith("===== FAILURES =====\nE   assert 0 == 0\n")
    assert found.endswith("E   assert 4999 == 0\n== 5000 failed ==\n")
    assert "characters left out" in found
    assert all(line.startswith(("=", "E   assert ", "[…")) for line in found.splitlines())


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "junk",
    ["a." * 200_000, "\x1b]" * 100_000, "\r" * 400_000, 'File "a", line 1, in x\n' * 20_000, "● › " * 80_000,
     "Traceback (most recent call last):\n" * 10_000, "/" * 300_000, "tmp/" * 80_000, "aError" * 60_000],
)  # fmt: skip
def test_no_output_takes_long(junk: str) -> None:
    assert read_failure("x", 1, junk, root="/home/ada").fingerprint
