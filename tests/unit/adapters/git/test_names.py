from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whilly.adapters.git.names import MAX_BRANCH, alternatives, safe_branch, safe_part

TEXTS = st.one_of(st.text(max_size=120), st.text(alphabet="/.-@{}~^:\\ab.lock", max_size=40))


def is_good(ref: str) -> bool:
    done = subprocess.run(["git", "check-ref-format", ref], env={"PATH": os.defpath}, check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("whilly/TASK-001", "whilly/TASK-001"),
        ("whilly/GH-12.v2_x", "whilly/GH-12.v2_x"),
        ("whilly/Задача 7: Щука", "whilly/Zadacha-7-Shchuka"),
        ("whilly/漢字", "whilly/HanZi"),
        ("whilly/Ünïcode", "whilly/Unicode"),
        ("whilly/$(id)", "whilly/id"),
        ("whilly/../../etc/passwd", "whilly/etc/passwd"),
        ("whilly/a..b", "whilly/a.b"),
        ("whilly/x.lock", "whilly/x"),
        ("whilly/x.lock.lock", "whilly/x"),
        ("-whilly//-x-/", "whilly/x"),
        ("whilly/" + "x" * 5000, "whilly/" + "x" * 73),
    ],
)
def test_a_branch_keeps_its_meaning(wanted: str, expected: str) -> None:
    assert safe_branch(wanted) == expected


@pytest.mark.parametrize("wanted", ["", "/", "...", "HEAD", "@", "\0", "---"])
def test_a_branch_of_nothing_usable_gets_a_name_all_the_same(wanted: str) -> None:
    assert safe_branch(wanted).startswith("work-")


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_git_accepts_every_branch(wanted: str) -> None:
    name = safe_branch(wanted)
    assert is_good(f"refs/heads/{name}"), name
    assert len(name) <= MAX_BRANCH
    assert not name.startswith("-")


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_git_and_the_file_system_accept_every_part(text: str) -> None:
    part = safe_part(text)
    assert is_good(f"refs/whilly/wip/{part}/{part}"), part
    assert "/" not in part
    assert len(part) <= 80
    assert part == part.lower()


@given(TEXTS, TEXTS)
def test_different_texts_give_different_parts(one: str, other: str) -> None:
    assert (safe_part(one) == safe_part(other)) == (one == other)


@given(st.text(min_size=1, max_size=100))
def test_alternatives_differ_and_fit(wanted: str) -> None:
    names = list(alternatives(safe_branch(wanted), "run-1"))
    assert names[0] == safe_branch(wanted)
    assert all(0 < len(name) <= MAX_BRANCH for name in names)
    assert len(set(names)) >= 10
