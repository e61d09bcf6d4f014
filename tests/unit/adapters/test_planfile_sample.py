from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from whilly.adapters.planfile import parse, sample_plan
from whilly.domain.schedule import preview


def git(repository: Path, *arguments: str) -> None:
    name = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", *name, *arguments], cwd=repository, check=True, capture_output=True)


def passes(step: str, repository: Path) -> bool:
    return subprocess.run(["sh", "-c", step], cwd=repository, check=False, capture_output=True).returncode == 0


def test_the_sample_is_valid_and_shows_priorities_dependencies_and_shared_files() -> None:
    result = parse(sample_plan(), Path("/repo/tasks.json"), Path("/repo"))
    assert result.problems == ()
    assert result.plan is not None
    shown = preview(result.plan, 3)
    assert shown.waves == (("DEMO-1", "DEMO-2"), ("DEMO-3",), ("DEMO-4",), ("DEMO-5",))
    assert {str(item): str(wait) for item, wait in shown.waiting.items()} == {
        "DEMO-3": "files overlap with DEMO-1, which is running and holds `docs/hello.md`",
        "DEMO-4": "depends on DEMO-1, which is running",
        "DEMO-5": "depends on DEMO-4, which is pending",
    }


@pytest.mark.skipif(shutil.which("sh") is None, reason="the sample's checks are written for a POSIX shell")
def test_an_agent_that_signs_every_key_file_passes_all_checks_of_the_sample(tmp_path: Path) -> None:
    plan = parse(sample_plan(), tmp_path / "tasks.json", tmp_path).plan
    assert plan is not None
    git(tmp_path, "init", "-q")
    for item in plan.items:
        assert not all(passes(step, tmp_path) for step in item.test_steps), f"the checks of {item.id} prove nothing"
        for name in item.key_files:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{item.id}: {item.title}\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", item.id)
        assert all(passes(step, tmp_path) for step in item.test_steps)
