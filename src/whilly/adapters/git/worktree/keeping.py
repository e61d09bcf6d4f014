"""Commits that nothing else may hold get a ref of their own before anything is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.layout import archive_ref, wip_ref
from whilly.domain.ids import RunId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.layout import Layout
    from whilly.domain.ids import AttemptId


async def find_tip(git: Git, layout: Layout, branch: str) -> tuple[str | None, str | None]:
    """The commit of a branch and the work tree in which it is checked out; None for what there is not."""
    words = ("for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)", f"refs/heads/{branch}")
    answer = await git.run(layout.root, *words)
    for line in answer.text.splitlines():
        name, commit, place = line.split("\0")
        if name == f"refs/heads/{branch}":
            return commit, place or None
    return None, None


async def hold_commits(git: Git, layout: Layout, run: RunId, commits: Iterable[str], *, besides: str = "") -> None:
    """Give those of the commits that no ref reaches a ref under `refs/whilly/archive/<run>`.

    The branch `besides` does not count: it is about to go.
    """
    asked = dict.fromkeys(commit for commit in commits if commit)
    if not asked:
        return
    stdin = "".join(f"{commit}\n" for commit in asked).encode()
    # Without --single-worktree, `--all` takes in the HEAD of the very work tree that is about to go.
    words = ("--ignore-missing", "--stdin", "--single-worktree", f"--exclude=refs/heads/{besides}", "--not", "--all")
    loose = set((await git.run(layout.root, "rev-list", *words, stdin=stdin)).text.split())
    orders = [f"update {archive_ref(run, commit)}\0{commit}\0\0" for commit in asked if commit in loose]
    await update_refs(git, layout, orders)


async def update_refs(git: Git, layout: Layout, orders: Iterable[str]) -> None:
    """Carry out orders of `git update-ref --stdin -z`, all or none."""
    stdin = "".join(orders).encode("utf-8", "surrogateescape")
    if stdin:
        await git.run(layout.root, "update-ref", "--stdin", "-z", stdin=stdin)


async def hold_work(git: Git, layout: Layout, attempt: AttemptId, commit: str) -> str:
    """Put `commit` under the attempt's ref and return it.

    What the ref held before is kept: as the answer when it is the same tree on the same parents (the attempt was
    saved twice), otherwise under another ref.
    """
    ref = wip_ref(attempt)
    made = await git.run(layout.root, "update-ref", ref, commit, "0" * len(commit), accept=(0, 1, 128))
    if made.code == 0:
        return commit
    held = await git.run(layout.root, "rev-parse", "--verify", ref)
    if held.text == commit:
        return commit
    shown = await git.run(layout.root, "show", "--no-patch", "--no-notes", "--format=%H %T %P", ref, commit, "--")
    (old, *old_facts), (_new, *new_facts) = (line.split() for line in shown.text.splitlines())
    if old_facts == new_facts:
        return old
    run = RunId(attempt.rpartition("/")[0])
    orders = [f"update {archive_ref(run, old)}\0{old}\0\0", f"update {ref}\0{commit}\0{old}\0"]
    await update_refs(git, layout, orders)
    return commit
