"""Settings of roles: who works at the stages of a pipeline."""

from __future__ import annotations

from pydantic import Field

from whilly.config.tables.fields import Section


class RoleTable(Section):
    """Who works in a role. A pipeline's stages name their roles.

    The packaged ones have `developer`, `author`, `planner` and `analyst`.
    """

    agent: str = Field(default="", description="The agent, for tasks that name none; empty is `agent.name`.")
    model: str = Field(default="", description="Its model, for tasks that name none.")
