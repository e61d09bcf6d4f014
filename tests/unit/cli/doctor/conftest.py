from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.bootstrap import Project, open_project, pass_by
from whilly.cli.main import main
from whilly.domain.flow.plan_run import Limits
from whilly.domain.ids import CommitId, PlanId, RunId
from whilly.engine.inspection.ledger import survey_ledger
from whilly.engine.ledger import Ledger
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whilly.application.survey import Survey

CLAUDE = "#!/bin/sh\necho 2.1.332\n"


@dataclass(slots=True)
class Said:
    """What one `whilly doctor --json` printed."""

    code: int
    report: dict[str, Any]

    @property
    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.report["findings"]]

    def find(self, code: str) -> dict[str, Any]:
        found = [finding for finding in self.report["findings"] if finding["code"] == code]
        assert found, f"no {code} among {self.codes}"
        return dict(found[0])

    @property
    def mended(self) -> list[str]:
        return [each["code"] for each in self.report["mended"]]


@dataclass(slots=True)
class Clinic:
    """A repository on a machine with git and a logged-in agent, and the doctor to look at it."""

    scratch: ScratchRepository
    programs: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    opened: list[Project] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.scratch.root

    @property
    def state(self) -> Path:
        return self.root / ".whilly"

    def look(self, *words: str) -> Said:
        self.capsys.readouterr()
        code = main(["doctor", "--json", *words])
        return Said(code, json.loads(self.capsys.readouterr().out))

    def read(self, *words: str) -> tuple[int, str]:
        """The same, as people read it."""
        self.capsys.readouterr()
        code = main(["doctor", *words])
        return code, self.capsys.readouterr().out

    def program(self, name: str, text: str) -> Path:
        path = self.programs / name
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def write(self, files: Mapping[str, str]) -> None:
        self.scratch.write(self.root, files)

    def project(self) -> Project:
        project = open_project(self.root)
        self.opened.append(project)
        return project

    def close(self) -> None:
        """Let go of the ledger's file."""
        for project in self.opened:
            if "database" in project.__dict__:
                project.database.dispose()

    def plan(self, name: str = "tasks.json", **fields: object) -> PlanId:
        """A plan file with one task, and the same plan in the ledger."""
        from whilly.adapters.planfile import load  # noqa: PLC0415  (most tests have no plan)

        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"tasks": [{"id": "A", "description": "do it", **fields}]}), encoding="utf-8")
        plan = load(path, self.root).plan
        assert plan is not None
        self.project().planning().import_plan(plan)
        return plan.id

    def begin(self, plan: PlanId) -> RunId:
        """Work on the plan begins, in a process that is gone at once."""
        project = self.project()
        ledger = Ledger(project.database, project.clock, project.pipelines, lambda *_: None, pass_by)
        ledger.begin(plan, Limits(), base="main", target="whilly/target")
        return self.survey().runs[0].id

    def survey(self) -> Survey:
        return survey_ledger(f"sqlite:///{self.state / 'whilly.db'}")

    def open_workspace(self, run: str, branch: str = "whilly/A") -> Path:
        head = CommitId(self.scratch.git("rev-parse", "HEAD"))
        return Path(asyncio.run(self.project().workspace.open(RunId(run), branch, head)))

    def execute(self, statement: str) -> None:
        """Change the ledger behind everybody's back."""
        with self.project().database.begin() as tx:
            tx.exec_driver_sql(statement)


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Clinic]:
    scratch = ScratchRepository.make(tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    scratch.git("config", "--global", "user.name", "Ada")
    scratch.git("config", "--global", "user.email", "ada@example.org")
    clinic = Clinic(scratch, programs, capsys, monkeypatch)
    clinic.program("claude", CLAUDE)
    git = shutil.which("git")
    assert git is not None
    (programs / "git").symlink_to(git)
    for name in [name for name in os.environ if name.startswith(("WHILLY_", "ANTHROPIC_", "CLAUDE_", "JIRA_"))]:  # noqa: TID251  (what is set there must not count)
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("HOME", str(scratch.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(scratch.root)
    yield clinic
    clinic.close()
