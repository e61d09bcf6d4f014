"""Which tests of a change are looked at, and what their failures say."""

from __future__ import annotations

import pytest

from whilly.domain.attempt import Evidence
from whilly.domain.change import CheckCommand, Extent
from whilly.domain.delivery.proof import (
    ask_for,
    list_failing,
    list_missing,
    list_new_tests,
    list_old_tests,
    list_runners,
    pick_tests,
    see_extents,
    tell_risks,
    tell_seen,
)
from whilly.domain.ids import CommitId
from whilly.domain.intake.strategy import APPROACHES, Proof, Seen, Strategy

CHANGE = (
    Extent("src/a.py", 5, 2),
    Extent("tests/test_gone.py", 0, 9, is_there=False),
    Extent("tests/test_less.py", 1, 4),
    Extent("tests/test_more.py", 4, 1),
    Extent("tests/test_new.py", 3, 0, was_there=False),
)


def test_tests_are_told_from_the_rest_and_old_ones_from_new_ones() -> None:
    assert list_new_tests(CHANGE) == ("tests/test_less.py", "tests/test_more.py", "tests/test_new.py")
    assert list_old_tests(CHANGE) == ("tests/test_gone.py", "tests/test_less.py", "tests/test_more.py")
    seen = see_extents(CHANGE)
    assert (seen.lines, seen.tests_added) == (29, ("tests/test_more.py", "tests/test_new.py"))
    assert seen.old_tests_changed == list_old_tests(CHANGE)
    assert (seen.fails_before, seen.old_tests_pass) == (None, None)


def test_documents_beside_tests_are_no_tests() -> None:
    notes = (Extent("tests/NOTES.md", 3, 0, was_there=False), Extent("tests/data/a.txt", 3, 0, was_there=False))
    assert see_extents(notes).tests_added == ()
    assert list_new_tests(notes) == ("tests/NOTES.md", "tests/data/a.txt")


@pytest.mark.parametrize(
    ("path", "command", "is_one"),
    [
        ("Makefile", "make test", True),
        ("sub/tox.ini", "tox", True),
        (".ci/run", "make test", True),
        ("scripts/run-tests.sh", "make test", True),
        ("bin/check", "FAST=1 ./bin/check --all", True),
        ("bin/check", "true && sh -e bin/check", True),
        ("deploy.sh", "make test", False),
        ("answer.txt", "grep -q right answer.txt", False),
        ("shop.py", "python3 shop.py", False),
        ("pyproject.toml", "pytest", False),
    ],
)
def test_what_says_how_tests_are_run_is_that_of_the_base(path: str, command: str, *, is_one: bool) -> None:
    commands = (CheckCommand(command),)
    assert list_runners((Extent(path, 1, 1),), commands) == ((path,) if is_one else ())
    assert list_runners((Extent(path, 1, 0, was_there=False),), commands) == ()


@pytest.mark.parametrize(
    ("extent", "said", "risks"),
    [
        (Extent("Makefile", 1, 1), "here, those that the change alters as they were", 0),
        (Extent("pyproject.toml", 1, 1), "here, with pyproject.toml of the change", 1),
        (Extent("pytest.ini", 1, 0, was_there=False), "here, with pytest.ini of the change", 1),
        (Extent("src/a.py", 1, 1), "here, none of them altered", 0),
    ],
)
def test_what_may_say_how_tests_are_run_is_told(extent: Extent, said: str, risks: int) -> None:
    seen = see_extents((extent,))
    (told,) = [
        how for proof, how in tell_seen(APPROACHES[Strategy.BUGFIX_REPRO_FIRST], seen, ()) if proof.startswith("old")
    ]
    assert told.endswith(said)
    assert len(tell_risks(seen)) == risks


SETUP, LINT, TEST = CheckCommand("pip install .", kind="setup"), CheckCommand("ruff check"), CheckCommand("pytest -q")
ODD = CheckCommand("./go.sh")


@pytest.mark.parametrize(
    ("commands", "picked"),
    [
        ((SETUP, LINT, TEST), (SETUP, TEST)),
        ((SETUP, LINT, ODD), (SETUP, LINT, ODD)),
        ((SETUP,), ()),
        ((), ()),
    ],
)
def test_commands_that_run_tests_are_picked(
    commands: tuple[CheckCommand, ...], picked: tuple[CheckCommand, ...]
) -> None:
    assert pick_tests(commands) == picked


@pytest.mark.parametrize(
    ("failure", "names"),
    [
        (
            Evidence("no", "pytest -q", 1, hints=("error: x", "failing test: t.py::a", "failing test: t.py::b")),
            ("t.py::a", "t.py::b"),
        ),
        (Evidence("no", "pytest -q", 1), ("pytest -q",)),
        (Evidence("no", "pip install .", 1), ()),
        (Evidence("no", "pytest -q", 127), ()),
        (Evidence("no", "pytest -q", 1, hints=("command node was not found",)), ()),
        (Evidence("no", "pytest -q", None), ()),
        (Evidence("no", "pytest -q", 2, hints=("missing module: attrs",), remedy="pip install ."), ()),
    ],
    ids=["named", "not named", "set-up", "not found", "command missing", "too slow", "dependency missing"],
)
def test_only_what_fails_in_a_test_counts(failure: Evidence, names: tuple[str, ...]) -> None:
    assert list_failing(failure, (SETUP, TEST)) == names


@pytest.mark.parametrize("strategy", list(Strategy))
def test_each_proof_is_either_seen_or_missing_and_can_be_asked_for(strategy: Strategy) -> None:
    approach = APPROACHES[strategy]
    nothing = Seen(("src/a.py", "tests/test_a.py"), 9_999, old_tests_changed=("tests/test_a.py",), old_tests_pass=False)
    missing = list_missing(approach, nothing)
    assert [each.proof for each in missing] == list(approach.proofs)
    assert tell_seen(approach, nothing, missing) == ()
    evidence = ask_for(missing, nothing, CommitId("a" * 40), Evidence("no", output="4 != 3"))
    assert len(evidence.hints) == len(approach.proofs) + 1
    assert (evidence.output, evidence.fingerprint) == ("4 != 3", " ".join(f"proof:{each}" for each in approach.proofs))
    kinds = {each.proof: each.failure.kind for each in missing}
    assert kinds.get(Proof.OLD_TESTS_PASS, "tests_weakened") == "tests_weakened"
    everything = Seen(("README.md",), 2, ("t::a",), ("tests/test_a.py",), (), old_tests_pass=True)
    assert list_missing(approach, everything) == ()
    assert [proof for proof, _ in tell_seen(approach, everything, ())] == list(approach.proofs)
