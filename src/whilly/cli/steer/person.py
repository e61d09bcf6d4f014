"""Who says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whilly.bootstrap import Project


def name_person(project: Project) -> str:
    """The user's login name, as far as the environment tells."""
    environment = project.loaded.environment
    names = (environment.get(name, "") for name in ("LOGNAME", "USER", "USERNAME"))
    return next((name for name in names if name), "somebody")
