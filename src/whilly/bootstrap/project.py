"""The composition root: which adapter stands for which port, and how a repository's Whilly is put together.

Imports that cost time are made where they are needed: what only reads must not pay for the engine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from whilly.adapters.system.clock import SystemClock
from whilly.bootstrap.rules import find_agents, find_posts, note_roles, rules
from whilly.config.environment import find_root
from whilly.config.layers import Loaded, load_settings
from whilly.config.pipelines import load_pipelines
from whilly.domain.confinement import Tier, hold
from whilly.domain.errors import ConfigError
from whilly.ports.checkpoint import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import sqlalchemy as sa

    from whilly.adapters.git.command import Git
    from whilly.adapters.git.contained.tier import ContainedTier
    from whilly.adapters.git.layout import Layout
    from whilly.adapters.places import Connected
    from whilly.application.attempt_context import Ports
    from whilly.application.live import Live
    from whilly.bootstrap.places import Places
    from whilly.bootstrap.tiers import Hold
    from whilly.config.settings import Settings
    from whilly.domain.flow.pipeline import Pipeline
    from whilly.domain.forge.remote import Home
    from whilly.domain.ids import PlanId
    from whilly.domain.redaction import Redactor
    from whilly.domain.work_item import WorkItem
    from whilly.engine.driving.driver import Handler, Staff
    from whilly.engine.engine import Engine
    from whilly.engine.ledger import Ledger
    from whilly.engine.observer import Observer
    from whilly.engine.planning import Planning
    from whilly.engine.reading import Reading
    from whilly.ports.agent import Agent
    from whilly.ports.handoffs import Handoffs
    from whilly.ports.machine import Machine
    from whilly.ports.policy import Policy
    from whilly.ports.repository import Repository
    from whilly.ports.sandbox import Sandbox
    from whilly.ports.sessions import Sessions
    from whilly.ports.workspace import Workspace


@dataclass(frozen=True)
class Project:
    """One repository's Whilly, put together piece by piece as it is asked for.

    Attributes:
        root: the work tree, absolute.
    """

    root: Path
    loaded: Loaded
    checkpoint: Checkpoint

    @property
    def settings(self) -> Settings:
        """The configuration that counts."""
        return self.loaded.settings

    @property
    def state(self) -> Path:
        """Whilly's own directory in the repository."""
        return self.root / ".whilly"

    @property
    def attempts_root(self) -> Path:
        """Where attempts have their homes, as `<run>/<number>`."""
        return self.state / "attempts"

    @cached_property
    def clock(self) -> SystemClock:
        """The machine's clock."""
        return SystemClock()

    @cached_property
    def machine(self) -> Machine:
        """What the computer has left."""
        from whilly.adapters.system.machine import SystemMachine  # noqa: PLC0415  (psutil costs time)

        return SystemMachine(self.state, self.clock)

    @cached_property
    def places(self) -> Places:
        """Trackers and forges, by name."""
        from whilly.bootstrap.places import Places  # noqa: PLC0415  (needed by few commands)

        return Places(self.loaded, self.clock)

    def connect(self, name: str) -> Connected:
        """The line to the place of this name, to be used in one event loop.

        Raises:
            ConfigError: there is no such place, or no token for it.
        """
        return self.places.connect(name)

    async def find_home(self) -> Home | None:
        """The repository of a known place that this one was cloned from; None when its remote is elsewhere."""
        from whilly.domain.forge.remote import find_home  # noqa: PLC0415  (needed by few commands)

        # As written: what `insteadOf` makes of it is for git alone.
        answer = await self.git.run(self.root, "config", "--get", "remote.origin.url", accept=(0, 1))
        return find_home(answer.text, self.places.known())

    @cached_property
    def pipelines(self) -> Mapping[str, Pipeline]:
        """All pipelines by name."""
        return load_pipelines(self.state, max_attempts=self.settings.run.max_attempts)

    @property
    def database_url(self) -> str:
        """Where the ledger is."""
        from whilly.config.secrets import ReferencedSecrets, reference_or_text  # noqa: PLC0415  (seldom needed)
        from whilly.engine.sqlite.address import sqlite_url  # noqa: PLC0415  (costs 0.2 s)

        wanted = self.settings.storage.database_url or sqlite_url(self.state / "whilly.db")
        return reference_or_text(wanted, ReferencedSecrets(self.loaded.environment))

    @property
    def has_ledger(self) -> bool:
        """Whether there is a ledger to read: nothing is made by asking."""
        return bool(self.settings.storage.database_url) or (self.state / "whilly.db").exists()

    @cached_property
    def database(self) -> sa.Engine:
        """The ledger's database, made and brought up to date if need be."""
        from whilly.engine.database import migrate, open_database  # noqa: PLC0415  (costs 0.2 s)

        if not self.has_ledger:
            # Who only reads must not change what another one looks at: whether git keeps out of this directory.
            self.prepare_state()
        database = open_database(self.database_url)
        migrate(database)
        return database

    def prepare_state(self) -> None:
        """Make Whilly's directory; it keeps itself out of git."""
        try:
            self.state.mkdir(parents=True, exist_ok=True)
            ignore = self.state / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            message = f"{self.state} cannot be written: {error.strerror}"
            raise ConfigError(message, remedy="check the permissions and the free space of the disk") from error

    @cached_property
    def reading(self) -> Reading:
        """Questions about the ledger."""
        from whilly.engine.reading import Reading  # noqa: PLC0415  (costs 0.2 s)

        return Reading(self.database, self.pipelines)

    def observer(self, plan: PlanId, live: Live | None = None, *, after: int | None = None) -> Observer:
        """Where a plan stands, again and again; see `Observer`."""
        from whilly.engine.observer import Observer  # noqa: PLC0415  (costs 0.2 s)

        return Observer(self.database, self.reading, plan, self.clock, live, after=after)

    @cached_property
    def recorder(self) -> Ledger:
        """The ledger of a process that writes down what people say and starts nothing itself."""
        from whilly.engine.ledger import Ledger  # noqa: PLC0415  (costs 0.2 s)

        return Ledger(self.database, self.clock, self.pipelines, None, self.checkpoint)

    def planning(self, ledger: Ledger | None = None) -> Planning:
        """Changes to the items of plans."""
        from whilly.engine.planning import Planning  # noqa: PLC0415  (costs 0.2 s)

        return Planning(ledger or self.recorder, self.pipelines)

    @cached_property
    def git(self) -> Git:
        """Git, with an environment made from nothing."""
        from whilly.adapters.git.command import Git  # noqa: PLC0415  (asyncio costs time)

        environ = self.loaded.environment
        env = {name: environ[name] for name in ("PATH", "HOME", "USERPROFILE") if name in environ}
        return Git(env=env, checkpoint=self.checkpoint)

    @cached_property
    def layout(self) -> Layout:
        """Where Whilly's files lie in and beside the repository."""
        from whilly.adapters.git.layout import Layout  # noqa: PLC0415  (asyncio costs time)

        return Layout(self.root, self.state)

    @cached_property
    def repository(self) -> Repository:
        """The user's repository."""
        from whilly.adapters.git.repository import GitRepository  # noqa: PLC0415  (as above)

        return GitRepository(self.git, self.layout, self.clock)

    @property
    def workspace(self) -> Workspace:
        """The workspaces of runs of the settings' own tier."""
        return self.workspace_in(self.tier)

    def workspace_in(self, tier: Tier) -> Workspace:
        """The workspaces of one tier's runs."""
        if tier is Tier.CONTAINED:
            return self.contained_tier.workspace
        from whilly.adapters.git.workspace import GitWorkspace  # noqa: PLC0415  (as above)

        return GitWorkspace(self.git, self.layout, self.clock)

    @property
    def tier(self) -> Tier:
        """The tier of all work that asks for no stricter one."""
        return Tier(self.settings.agent.isolation)

    @cached_property
    def agent_tiers(self) -> Mapping[str, Tier]:
        """The tier that each agent works in at least."""
        agents = self.settings.agents
        return {name: hold(self.tier, Tier(table.isolation or Tier.OPEN)) for name, table in agents.items()}

    def tier_of(self, item: WorkItem) -> Tier:
        """The tier of an item's run: the strictest of what the settings, its author and its agents ask for."""
        tiers = (self.agent_tiers.get(name, self.tier) for name in self.agents_for(item, *self.pipelines))
        return hold(self.tier, item.isolation, *tiers)

    def agents_for(self, item: WorkItem, *pipelines: str) -> frozenset[str]:
        """The agents that may get to work on an item on its way through one of these pipelines."""
        return find_agents(self.loaded, self.default_agent, item, [self.pipelines[name] for name in pipelines])

    @cached_property
    def sandbox(self) -> Sandbox:
        """What holds agents that are not trusted."""
        from whilly.adapters.bubblewrap.order import Limits  # noqa: PLC0415  (as above)
        from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox  # noqa: PLC0415  (as above)

        wanted = self.settings.contained
        limits = Limits(wanted.memory_mb, wanted.processes, wanted.file_mb, wanted.disk_mb)
        return BubblewrapSandbox(self._path, user=wanted.user, readable=wanted.read, limits=limits)

    @property
    def _path(self) -> str:
        return self.loaded.environment.get("PATH", os.defpath)

    @cached_property
    def contained_tier(self) -> ContainedTier:
        """Workspaces and checkouts that are held by the sandbox."""
        from whilly.adapters.git.contained.tier import make_contained_tier  # noqa: PLC0415  (as above)

        return make_contained_tier(self.git, self._path, self.layout, self.clock, self.sandbox)

    @cached_property
    def policy(self) -> Policy:
        """What may be taken over of contained agents' changes."""
        from whilly.adapters.git.contained.policy import GitPolicy  # noqa: PLC0415  (as above)

        wanted = self.settings.contained
        return GitPolicy(self.git, self.root, wanted.always_accept, wanted.verdict_names)

    @cached_property
    def sessions(self) -> Sessions:
        """The processes of agents."""
        from whilly.adapters.process.sessions import ProcessSessions  # noqa: PLC0415  (as above)

        return ProcessSessions(str(self.state))

    @cached_property
    def handoffs(self) -> Handoffs:
        """Work in people's hands."""
        from whilly.adapters.handoff.handoffs import FileHandoffs  # noqa: PLC0415  (as above)

        return FileHandoffs(self.state / "handoff", self.clock)

    @property
    def default_agent(self) -> str:
        """The agent of items that name none."""
        return self.settings.agent.name or "claude"

    @property
    def agent_names(self) -> list[str]:
        """The names of all agents that there are by themselves or by the settings."""
        from whilly.adapters.agents import KINDS, NAMELESS  # noqa: PLC0415  (asyncio costs time)

        return sorted({*(kind for kind in KINDS if kind not in NAMELESS), *self.settings.agents})

    def make_agent(self, name: str, tier: Tier | None = None) -> Agent:
        """The agent of this name, as it works in one tier: in the one that it is in at least, unless that is said.

        Raises:
            ConfigError: its settings do not describe one.
        """
        from whilly.bootstrap.tiers import make_tiered_agent  # noqa: PLC0415  (asyncio costs time)

        held = self._hold(tier or self.agent_tiers.get(name, self.tier))
        model = self.settings.agent.model if name == self.default_agent else ""
        return make_tiered_agent(name, self.loaded, self.redactor, held, model)

    @cached_property
    def redactor(self) -> Redactor:
        """What takes the secrets of the environment out of all that is shown or stored."""
        from whilly.domain.redaction import Redactor, find_secrets  # noqa: PLC0415  (as above)

        return Redactor(find_secrets(self.loaded.environment))

    def ports(self, tier: Tier | None = None) -> Ports:
        """The outside world, as the work of one tier sees it; without one, that of the settings' own."""
        from whilly.application.attempt_context import Ports  # noqa: PLC0415  (asyncio costs time)
        from whilly.bootstrap.tiers import make_checks  # noqa: PLC0415  (as above)

        tier = tier or self.tier
        is_held = tier is Tier.CONTAINED
        return Ports(
            repository=self.contained_tier.repository if is_held else self.repository,
            workspace=self.workspace_in(tier),
            sessions=self.sessions,
            handoffs=self.handoffs,
            checks=make_checks(self.loaded, self.state, self.redactor, self._hold(tier)),
            agents={name: self.make_agent(name, tier) for name in self.agent_names},
            clock=self.clock,
            machine=self.machine,
            checkpoint=self.checkpoint,
            policy=self.policy if is_held else None,
        )

    def _hold(self, tier: Tier) -> Hold | None:
        from whilly.bootstrap.tiers import Hold  # noqa: PLC0415  (asyncio costs time)

        return Hold(self.sandbox, str(self.contained_tier.places.objects)) if tier is Tier.CONTAINED else None

    @cached_property
    def _held_ports(self) -> Ports:
        return self.ports(Tier.CONTAINED)

    def engine(self, actions: Mapping[str, Handler] = MappingProxyType({})) -> tuple[Engine, Ledger]:
        """The engine and the ledger that it writes; `actions` are those of one pipeline only, and who does them."""
        from whilly.engine.dispatch import Dispatch  # noqa: PLC0415  (as above)
        from whilly.engine.driving.driver import Driver  # noqa: PLC0415  (as above)
        from whilly.engine.engine import Engine  # noqa: PLC0415  (as above)
        from whilly.engine.ledger import Ledger  # noqa: PLC0415  (as above)

        dispatch = Dispatch(self.database, self.database_url)
        ledger = Ledger(self.database, self.clock, self.pipelines, dispatch.enqueue, self.checkpoint)
        held = None if self.tier is Tier.CONTAINED else lambda: self._held_ports
        driver = Driver(ledger, self.reading, self.ports(), rules(self.settings), self._staff(actions), held)
        return Engine(ledger, self.reading, driver, dispatch, self.clock), ledger

    def _staff(self, actions: Mapping[str, Handler]) -> Staff:
        from whilly.adapters.jinja.renderer import make_renderer  # noqa: PLC0415  (costs 0.1 s)
        from whilly.application.hand_over import hand_over  # noqa: PLC0415  (as above)
        from whilly.application.integrate_change import integrate_change  # noqa: PLC0415  (as above)
        from whilly.application.run_session import run_session  # noqa: PLC0415  (as above)
        from whilly.application.verify_change import verify_change  # noqa: PLC0415  (as above)
        from whilly.engine.driving.driver import Staff  # noqa: PLC0415  (as above)

        usual = {"": run_session, "handoff": hand_over, "verify": verify_change, "integrate": integrate_change}
        return Staff(
            handlers={**usual, **actions},
            default_agent=self.default_agent,
            substitutes=self.settings.agent.substitutes,
            default_model=self.settings.agent.model,
            reservation=self.settings.agent.reservation_usd,
            branch_prefix=self.settings.repository.branch_prefix,
            tier_of=self.tier_of,
            posts=find_posts(self.loaded),
            render=make_renderer(self.state / "prompts"),
            attempts_root=self.attempts_root,
        )


def open_project(
    directory: Path, flags: Mapping[str, object] | None = None, checkpoint: Callable[[str], None] | None = None
) -> Project:
    """The Whilly of the repository around `directory`.

    Raises:
        ConfigError: not a git repository, or the configuration is wrong.
    """
    root = find_root(directory)
    if root is None:
        message = f"{directory} is not inside a git repository"
        raise ConfigError(message, remedy="git init, or change to your repository")
    return Project(root, note_roles(load_settings(root, flags), root), checkpoint or pass_by)


def pass_by(_name: str) -> None:
    """In use, no moment is special."""
