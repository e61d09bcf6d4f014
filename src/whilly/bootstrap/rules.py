"""What the settings say about every attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.config.sources import Layer
from whilly.domain.flow.brief import SessionLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whilly.application.attempt_context import Rules
    from whilly.config.layers import Loaded
    from whilly.config.settings import Settings
    from whilly.config.tables.roles import RoleTable
    from whilly.domain.flow.pipeline import Pipeline
    from whilly.domain.work_item import WorkItem
    from whilly.engine.driving.driver import Post

MEBIBYTE = 1 << 20


def rules(settings: Settings) -> Rules:
    """What the settings say about every attempt."""
    from whilly.application.attempt_context import Rules  # noqa: PLC0415  (as above)

    agent = settings.agent
    limits = SessionLimits(
        attempt=_seconds(agent.attempt_timeout_s),
        first_output=_seconds(agent.first_output_s),
        silence=_seconds(agent.stall_s),
        after_result=timedelta(seconds=agent.result_grace_s),
        grace=timedelta(seconds=agent.grace_s),
        max_turns=agent.max_turns,
        output=agent.max_output_mb * MEBIBYTE,
        handoff=_seconds(settings.handoff.timeout_s),
    )
    return Rules(profile=settings.profile.profile(), limits=limits, machine=settings.machine.thresholds())


def find_roles(loaded: Loaded) -> Mapping[str, RoleTable]:
    """Who works in which role; what the command line says counts for all of them."""
    is_said = {key: loaded.origin(f"agent.{key}").layer is Layer.FLAG for key in ("name", "model")}
    changes = {"agent": ""} if is_said["name"] else {}
    changes |= {"model": ""} if is_said["name"] or is_said["model"] else {}
    return {role: table.model_copy(update=changes) for role, table in loaded.settings.roles.items()}


def find_posts(loaded: Loaded) -> Mapping[str, Post]:
    """The same, as the engine wants it."""
    from whilly.engine.driving.driver import Post  # noqa: PLC0415  (importing the engine costs time)

    return {role: Post(table.agent, table.model) for role, table in find_roles(loaded).items()}


def find_agents(loaded: Loaded, default: str, item: WorkItem, pipelines: Iterable[Pipeline]) -> frozenset[str]:
    """The agents that may get to work on an item on its way; `default` is the one of whoever names none."""
    if item.agent:
        return frozenset({item.agent})
    named = {role: table.agent for role, table in find_roles(loaded).items() if table.agent}
    usual = {default, *loaded.settings.agent.substitutes}
    stages = (stage for pipeline in pipelines for stage in pipeline.stages.values())
    return frozenset().union(*({named[each.role]} if each.role in named else usual for each in stages if each.is_agent))


def _seconds(value: float) -> timedelta | None:
    return timedelta(seconds=value) if value else None
