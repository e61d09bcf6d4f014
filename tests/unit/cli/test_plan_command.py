"""`whilly plan triz` and `whilly plan challenge`: exit codes and both forms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.planfile import sample_plan
from whilly.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

CLASH = {"id": "T-1", "description": "Cache totals", "acceptance_criteria": ["totals are always up to date"]}
REJECTED = {"id": "T-1", "description": "Totals", "acceptance_criteria": ["totals are cached", "totals are not cached"]}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place: Path, *tasks: object) -> None:
    (place / "tasks.json").write_text(json.dumps({"project": "p", "tasks": tasks}), encoding="utf-8")


def test_a_good_plan_is_approved(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "tasks.json").write_bytes(sample_plan())
    assert (main(["plan", "challenge", "tasks.json"]), main(["plan", "triz"])) == (0, 0)
    out = capsys.readouterr().out
    assert ": approve: " in out
    assert "No contradiction was found." in out


def test_a_contradiction_names_its_principles(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, CLASH)
    assert main(["plan", "triz", "tasks.json"]) == 1
    out = capsys.readouterr().out
    assert "medium: T-1 wants speed (“Cache”) and freshness (“always up to date”)" in out
    assert "    24 Intermediary: " in out
    assert main(["plan", "challenge", "tasks.json"]) == 0


def test_a_rejected_plan_fails(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, REJECTED)
    assert main(["plan", "challenge", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["plan"], told["verdict"]) == ("p", "reject")
    assert main(["--triz", "tasks.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["contradictions"][0]["type"] == "physical"


def test_what_is_no_plan_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, {"id": "T-1"})
    assert main(["plan", "challenge", "tasks.json"]) == 4
    assert "tasks.json:1:" in capsys.readouterr().err
    assert main(["plan", "triz", "missing.json"]) == 4
