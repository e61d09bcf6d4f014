"""Whether an issue can be worked on in this clone: found out before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.adapters.git.inspection import list_remotes, share_history
from whilly.domain.errors import ConfigError
from whilly.domain.forge.remote import find_home

if TYPE_CHECKING:
    from whilly.application.forging.desk import Desk
    from whilly.bootstrap import Project
    from whilly.domain.ids import CommitId


async def require_relation(project: Project, desk: Desk, base: CommitId) -> None:
    """See that the clone is one of the repository, of a fork or of a mirror of it.

    Args:
        project: the clone.
        desk: where the pull request is to go.
        base: the commit of the base branch there, which was fetched.

    Raises:
        ConfigError: no remote leads there, and there is no common history.
    """
    remotes = await list_remotes(project.git, project.root)
    homes = [home for url in remotes.values() if (home := find_home(url, project.places.known()))]
    if any(
        home.place == desk.place and home.repository.casefold() == desk.repository.casefold() for home in homes
    ) or await share_history(project.git, project.root, "HEAD", base):
        return
    own = ", ".join(dict.fromkeys(f"{home.place}:{home.repository}" for home in homes)) or "none of a known forge"
    message = (
        f"{desk.repository} at {desk.place} has nothing to do with this clone: its remotes are {own}, "
        f"and no commit of {desk.base} there ({base[:12]}) is in the history of what is checked out here"
    )
    remedy = "work in a clone of it; if this is one all the same: git remote add NAME URL-OF-IT"
    raise ConfigError(message, remedy=remedy)


async def require_room(desk: Desk, branch: str) -> None:
    """See that the forge has no branch in whose place git would need a folder for this one.

    Raises:
        ConfigError: it has one.
    """
    parts = branch.split("/")
    for number in range(1, len(parts)):
        taken = "/".join(parts[:number])
        if await desk.remote.find_head(taken):
            message = f"{branch} cannot be pushed: {desk.repository} has a branch {taken}, and git takes / for a folder"
            raise ConfigError(message, remedy=f"rename or delete the branch {taken} there")
