"""The repository: whether git works in it, what is unusual, who commits, what is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.identity import FALLBACK_EMAIL, Identity
from whilly.adapters.git.inspection import detect_base, find_layout, list_notes
from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said
from whilly.domain.errors import ConfigError, NotFound, PortError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.adapters.git.layout import Layout
    from whilly.cli.doctor.site import Site

ISOLATION = {
    "open": "open: agents run with your rights, in work trees of their own",
    "contained": "contained: agents and checks run in a sandbox, in clones of their own",
}


async def look_at_repository(site: Site) -> Iterable[Said]:
    """Everything about the repository that needs git."""
    project = site.project
    try:
        if not site.is_repository:
            return await _look_outside(site)
        layout = await find_layout(project.git, project.root)
    except ConfigError as error:
        return [found("repository_unusable", error.message, subject=str(project.root), remedy=error.remedy)]
    except NotFound:
        # There is no git, which another check says.
        return []
    except PortError as error:
        remedy = error.remedy or "git fsck"
        return [found("repository_unusable", error.message, subject=str(project.root), remedy=remedy)]
    said: list[Said] = [
        Fact("repository", str(project.root)),
        Fact("isolation", ISOLATION[project.settings.agent.isolation]),
    ]
    return [*said, *await _look_at_base(site), *await _list_notes(site, layout), *await _look_at_identity(site, layout)]


async def _look_outside(site: Site) -> list[Said]:
    answer = await site.project.git.run(
        site.project.root, "rev-parse", "--is-bare-repository", "--is-inside-git-dir", accept=(0, 128)
    )
    if "true" in answer.text:
        what = f"{site.project.root} is a bare repository or inside git's own directory"
        return [found("repository_unusable", what, remedy="start in a work tree: git clone, or git worktree add")]
    return [Fact("repository", "none here; only the machine was looked at")]


async def _look_at_base(site: Site) -> list[Said]:
    project = site.project
    wanted = project.settings.repository.base_branch
    try:
        if not wanted:
            return [Fact("base", await detect_base(project.git, project.root))]
    except ConfigError as error:
        return [found("base_branch_missing", error.message, remedy=error.remedy)]
    if await project.repository.find_commit(f"refs/heads/{wanted}") is None:
        what = f"repository.base_branch names {wanted}, and there is no such branch"
        remedy = f"git branch {wanted}, or whilly config set repository.base_branch NAME"
        return [found("base_branch_missing", what, subject=wanted, remedy=remedy)]
    return [Fact("base", wanted)]


async def _list_notes(site: Site, layout: Layout) -> list[Said]:
    said: list[Said] = []
    for note in await list_notes(site.project.git, layout):
        what, _, consequence = note.partition(": ")
        why, _, remedy = consequence.partition("; ")
        said.append(
            found("repository_unusual", what, why=why, remedy=remedy or "nothing, if you know it", subject=what)
        )
    return said


async def _look_at_identity(site: Site, layout: Layout) -> list[Said]:
    names = await Identity(site.project.git, layout, site.project.clock).environment()
    if names["GIT_AUTHOR_EMAIL"] != FALLBACK_EMAIL:
        return []
    remedy = "git config --global user.name NAME && git config --global user.email ADDRESS"
    return [found("identity_missing", "git does not know who you are", remedy=remedy)]


async def look_at_ignore(site: Site) -> Iterable[Said]:
    """Whether git keeps out of Whilly's directory."""
    project = site.project
    if not project.state.is_dir():
        return []
    asked = str(project.state / "whilly.db")
    try:
        # With --no-index a file that is tracked already counts as well.
        words = ("check-ignore", "--quiet", "--no-index", asked)
        answer = await project.git.run(project.root, *words, accept=(0, 1))
    except PortError:
        # Git does not work here at all, which another check says.
        return []
    return [] if answer.code == 0 else [found("state_not_ignored", "git does not ignore .whilly", subject=".whilly")]
