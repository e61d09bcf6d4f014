"""What dead runs leave in the contained tier."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.domain.ids import CommitId, RunId

if TYPE_CHECKING:
    from tests.unit.cli.doctor.conftest import Clinic

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
RUN = RunId("gone-1")


@pytest.fixture
def ward(clinic: Clinic, bubblewrap: str) -> Clinic:
    clinic.monkeypatch.setenv("PATH", f"{clinic.programs}{os.pathsep}{bubblewrap}")
    clinic.begin(clinic.plan())
    clinic.execute("UPDATE plans SET phase = 'idle', state = json_set(state, '$.phase', 'idle')")
    return clinic


def open_checkout(ward: Clinic) -> Path:
    head = CommitId(ward.scratch.git("rev-parse", "HEAD"))
    return Path(asyncio.run(ward.project().contained_tier.workspace.open(RUN, "whilly/gone", head)))


def test_a_checkout_of_an_unknown_run_is_put_away_with_all_that_is_in_it(ward: Clinic) -> None:
    tree = open_checkout(ward)
    (tree / "a.txt").write_text("not committed\n", encoding="utf-8")
    found = ward.look().find("contained_orphan")
    assert (found["subject"], found["fixable"]) == ("gone-1", True)
    said = ward.look("--fix")
    assert (said.mended, said.report["not_mended"]) == (["contained_orphan"], [])
    assert not tree.exists()
    assert ward.scratch.git("show", "whilly/gone:a.txt") == "not committed"
    assert ward.look("--fix").mended == []


def test_what_git_may_not_be_given_is_kept_and_named(ward: Clinic) -> None:
    tree = open_checkout(ward)
    (tree / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n\turl = -u./evil\n', encoding="utf-8")
    said = ward.look("--fix")
    assert said.mended == ["contained_orphan"]
    aside = ward.state / "contained" / "refused" / "gone-1"
    assert (aside / "tree" / ".gitmodules").is_file()
    found = said.find("contained_refused")
    assert (found["fixable"], str(aside) in found["remedy"]) == (False, True)
    assert ward.look("--fix").mended == []
    assert aside.is_dir()


def test_clones_of_checks_and_quarantine_are_removed_and_the_unknown_is_left(ward: Clinic) -> None:
    contained = ward.state / "contained"
    for name in ("checkouts/gone-1-2", "quarantine/gone-1", "runs/nobody-knows"):
        (contained / name / "folder").mkdir(parents=True)
    said = ward.look()
    assert said.codes.count("contained_scratch") == 2
    assert said.find("contained_refused")["subject"] == "nobody-knows"
    said = ward.look("--fix")
    assert said.mended == ["contained_scratch", "contained_scratch"]
    assert [path.name for path in contained.glob("*/*")] == ["nobody-knows"]


def test_what_an_open_run_needs_is_left_alone(ward: Clinic) -> None:
    run = ward.begin(ward.plan())
    ward.execute("UPDATE plans SET phase = 'idle', state = json_set(state, '$.phase', 'idle')")
    places = ward.project().contained_tier.places
    head = CommitId(ward.scratch.git("rev-parse", "HEAD"))
    asyncio.run(ward.project().contained_tier.workspace.open(run, "whilly/mine", head))
    assert not [code for code in ward.look("--fix").codes if code.startswith("contained_")]
    assert places.tree(run).is_dir()


@pytest.mark.parametrize("isolation", ["open", "contained"])
def test_an_open_workspace_is_put_away_whatever_the_tier_is_now(ward: Clinic, isolation: str) -> None:
    place = ward.open_workspace("gone-2")
    ward.write({"whilly.toml": f'[agent]\nisolation = "{isolation}"\n'})
    assert "workspace_orphan" in ward.look("--fix").mended
    assert not place.exists()
