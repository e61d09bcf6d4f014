"""The composition root: which adapter stands for which port, and how a repository's Whilly is put together.

Imports that cost time are made where they are needed: what only reads must not pay for the engine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whilly.adapters.system.clock import SystemClock
from whilly.bootstrap.rules import rules
from whilly.config.environment import PASSED_VARIABLES, find_root, pick
from whilly.config.layers import Loaded, load_settings
from whilly.config.pipelines import load_pipelines
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
    from whilly.config.settings import Settings
    from whilly.domain.flow.pipeline import Pipeline
    from whilly.domain.ids import PlanId
    from whilly.domain.redaction import Redactor
    from whilly.engine.driving.driver import Staff
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

    @cached_property
    def pipelines(self) -> Mapping[str, Pipeline]:
        """All pipelines by name."""
        return load_pipelines(self.state / "pipelines", max_attempts=self.settings.run.max_attempts)

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

    @cached_property
    def workspace(self) -> Workspace:
        """The workspaces of runs."""
        if self.is_contained:
            return self.contained_tier.workspace
        from whilly.adapters.git.workspace import GitWorkspace  # noqa: PLC0415  (as above)

        return GitWorkspace(self.git, self.layout, self.clock)

    @property
    def is_contained(self) -> bool:
        """Whether agents work in a sandbox."""
        return self.settings.agent.isolation == "contained"

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

    def make_agent(self, name: str) -> Agent:
        """The agent of this name.

        Raises:
            ConfigError: its settings do not describe one.
        """
        from whilly.adapters.agents import make_agent  # noqa: PLC0415  (asyncio costs time)
        from whilly.adapters.redacting.agent import RedactedAgent  # noqa: PLC0415  (as above)

        table = self.settings.agents.get(name)
        changes = table.changes() if table else {}
        prices = {model: price.rates() for model, price in self.settings.prices.items()}
        agent = make_agent(name, changes, self.loaded.environment, self.settings.agent.env_pass, prices)
        return RedactedAgent(self._contain(name, agent) if self.is_contained else agent, self.redactor)

    @cached_property
    def redactor(self) -> Redactor:
        """What takes the secrets of the environment out of all that is shown or stored."""
        from whilly.domain.redaction import Redactor, find_secrets  # noqa: PLC0415  (as above)

        return Redactor(find_secrets(self.loaded.environment))

    def _contain(self, name: str, agent: Agent) -> Agent:
        from whilly.adapters.agents import make_agent  # noqa: PLC0415  (asyncio costs time)
        from whilly.adapters.command.pricing import merge_prices  # noqa: PLC0415  (as above)
        from whilly.adapters.contained_agents import SAFE_VARIABLES, contain_agent  # noqa: PLC0415  (as above)
        from whilly.adapters.gateway.door import Means  # noqa: PLC0415  (as above)
        from whilly.domain.confinement import Confinement  # noqa: PLC0415  (as above)

        table, passed = self.settings.agents.get(name), self.settings.agent.env_pass
        changes, own = (table.changes(), table.env_pass) if table else ({}, ())
        prices = {model: price.rates() for model, price in self.settings.prices.items()}
        seen = pick(self.loaded.environment, (*SAFE_VARIABLES, *own, *passed))
        model = self.settings.agent.model if name == self.default_agent else ""
        return contain_agent(
            agent,
            lambda more: make_agent(name, changes, {**seen, **more}, passed, prices, is_root=False),
            Means(self.loaded.environment, merge_prices(prices), model),
            self.sandbox,
            Confinement("", readable=(str(self.contained_tier.places.objects),), hosts=self.settings.contained.hosts),
        )

    @cached_property
    def agents(self) -> Mapping[str, Agent]:
        """All agents, by name."""
        return {name: self.make_agent(name) for name in self.agent_names}

    def ports(self) -> Ports:
        """The outside world, as this repository sees it."""
        from whilly.adapters.redacting.checks import RedactedChecks  # noqa: PLC0415  (as above)
        from whilly.adapters.shell.checks import ShellChecks  # noqa: PLC0415  (asyncio costs time)
        from whilly.application.attempt_context import Ports  # noqa: PLC0415  (as above)

        profile = self.settings.profile
        tier = self.contained_tier if self.is_contained else None
        return Ports(
            repository=tier.repository if tier else self.repository,
            workspace=self.workspace,
            sessions=self.sessions,
            handoffs=self.handoffs,
            checks=RedactedChecks(
                ShellChecks(
                    env=pick(self.loaded.environment, (*PASSED_VARIABLES, *profile.env_pass)) | {"CI": "true"},
                    state=str(self.state),
                    time_limit=timedelta(seconds=profile.check_timeout_s or 10**8),
                    grace=timedelta(seconds=self.settings.agent.grace_s),
                    sandbox=self.sandbox if tier else None,
                    readable=(str(tier.places.objects),) if tier else (),
                ),
                self.redactor,
            ),
            agents=self.agents,
            clock=self.clock,
            machine=self.machine,
            checkpoint=self.checkpoint,
            policy=self.policy if tier else None,
        )

    def engine(self) -> tuple[Engine, Ledger]:
        """The engine and the ledger that it writes; importing durable execution costs over half a second."""
        from whilly.engine.dispatch import Dispatch  # noqa: PLC0415  (as above)
        from whilly.engine.driving.driver import Driver  # noqa: PLC0415  (as above)
        from whilly.engine.engine import Engine  # noqa: PLC0415  (as above)
        from whilly.engine.ledger import Ledger  # noqa: PLC0415  (as above)

        dispatch = Dispatch(self.database, self.database_url)
        ledger = Ledger(self.database, self.clock, self.pipelines, dispatch.enqueue, self.checkpoint)
        driver = Driver(ledger, self.reading, self.ports(), rules(self.settings), self._staff())
        return Engine(ledger, self.reading, driver, dispatch, self.clock), ledger

    def _staff(self) -> Staff:
        from whilly.adapters.jinja.renderer import make_renderer  # noqa: PLC0415  (costs 0.1 s)
        from whilly.application.hand_over import hand_over  # noqa: PLC0415  (as above)
        from whilly.application.integrate_change import integrate_change  # noqa: PLC0415  (as above)
        from whilly.application.run_session import run_session  # noqa: PLC0415  (as above)
        from whilly.application.verify_change import verify_change  # noqa: PLC0415  (as above)
        from whilly.engine.driving.driver import Staff  # noqa: PLC0415  (as above)

        return Staff(
            handlers={"": run_session, "handoff": hand_over, "verify": verify_change, "integrate": integrate_change},
            default_agent=self.default_agent,
            substitutes=self.settings.agent.substitutes,
            default_model=self.settings.agent.model,
            reservation=self.settings.agent.reservation_usd,
            branch_prefix=self.settings.repository.branch_prefix,
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
    return Project(root, load_settings(root, flags), checkpoint or pass_by)


def pass_by(_name: str) -> None:
    """In use, no moment is special."""
