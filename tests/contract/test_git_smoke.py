from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.adapters.git.command import Git
from whilly.adapters.git.layout import Layout
from whilly.adapters.git.repository import GitRepository
from whilly.adapters.git.workspace import GitWorkspace
from whilly.adapters.memory.clock import ManualClock
from whilly.adapters.shell.checks import ShellChecks
from whilly.domain.change import CheckCommand, Combined
from whilly.domain.ids import RunId, attempt_id
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_change_goes_from_workspace_to_branch(tmp_path: Path) -> None:
    scratch = ScratchRepository.make(tmp_path)
    root, env = scratch.root, scratch.env
    git, layout = Git(env=env), Layout(root, root / ".whilly")
    repository, workspace = GitRepository(git, layout, ManualClock()), GitWorkspace(git, layout, ManualClock())
    base = await repository.find_commit("main")
    assert base is not None
    run = RunId("r1")
    path = await workspace.open(run, "whilly/T-1", base)
    scratch.write(path, {"a.txt": "hello"})
    saved = await workspace.save(run, attempt_id(run, 1), base)
    assert saved.paths == ("a.txt",)
    combined = await repository.combine(saved.commit, base, base, "T-1: hello")
    assert isinstance(combined, Combined)
    assert combined.is_same_tree
    checkout = await repository.checkout(saved.commit, "v1")
    checks = ShellChecks(env=env, state=str(layout.state), time_limit=timedelta(seconds=20), grace=timedelta(seconds=1))
    report = await checks.run(attempt_id(run, 2), checkout, [CheckCommand("test -f a.txt"), CheckCommand("exit 3")])
    assert report.passed == ("test -f a.txt",)
    assert report.failure is not None
    await repository.discard("v1")
    assert await repository.advance("whilly/plan", combined.commit, None)
    await workspace.close(run, keep_branch=False)
    assert git.spawned < 40
