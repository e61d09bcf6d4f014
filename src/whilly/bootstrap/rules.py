"""What the settings say about every attempt."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING

from whilly.config.pipelines import load_pipelines
from whilly.config.problems import Problem
from whilly.config.sources import Layer
from whilly.domain.errors import ConfigError
from whilly.domain.flow.brief import SessionLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

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


def note_roles(loaded: Loaded, root: Path) -> Loaded:
    """The same, with a warning for each role that no pipeline has."""
    if not loaded.settings.roles:
        return loaded
    try:
        pipelines = load_pipelines(root / ".whilly", max_attempts=1)
    except ConfigError:
        # Whoever needs them says so.
        return loaded
    known = sorted({stage.role for each in pipelines.values() for stage in each.stages.values() if stage.role})
    strange = [name for name in loaded.settings.roles if name not in known]
    return replace(loaded, warnings=(*loaded.warnings, *(_tell_strange(loaded, name, known) for name in strange)))


def require_prompts(folder: Path, pipelines: Iterable[Pipeline]) -> None:
    """See that the prompts of all agents are templates, before anything is spent.

    Raises:
        ConfigError: one is not.
    """
    from whilly.adapters.jinja.renderer import check_templates  # noqa: PLC0415  (costs 0.1 s)

    stages = (stage for each in pipelines for stage in each.stages.values())
    check_templates(folder, sorted({stage.prompt for stage in stages if stage.prompt}))


def _tell_strange(loaded: Loaded, name: str, known: Sequence[str]) -> Problem:
    near = get_close_matches(name, known, n=1)
    told = f"did you mean {near[0]}? " if near else ""
    place = next((origin.place for key, origin in loaded.origins.items() if key.startswith(f"roles.{name}.")), "")
    message = f"roles.{name} has no effect: no pipeline has this role"
    return Problem(place or "settings", message, f"{told}the roles are {', '.join(known)}")


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
