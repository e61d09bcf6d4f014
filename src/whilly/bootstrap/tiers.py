"""What differs between the tiers: how agents work, and where checks run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from whilly.adapters.agents import make_agent
from whilly.adapters.command.pricing import merge_prices
from whilly.adapters.contained_agents import SAFE_VARIABLES, contain_agent
from whilly.adapters.gateway.door import Means
from whilly.adapters.redacting.agent import RedactedAgent
from whilly.adapters.redacting.checks import RedactedChecks
from whilly.adapters.shell.checks import ShellChecks
from whilly.config.environment import PASSED_VARIABLES, pick
from whilly.domain.confinement import Confinement
from whilly.ports.sandbox import Sandbox

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.config.layers import Loaded
    from whilly.domain.redaction import Redactor
    from whilly.ports.agent import Agent
    from whilly.ports.checks import Checks


@dataclass(frozen=True, slots=True)
class Hold:
    """What holds the work of the contained tier.

    Attributes:
        objects: the directory of the mirror's objects, which checkouts borrow.
    """

    sandbox: Sandbox
    objects: str


def make_checks(loaded: Loaded, state: Path, redactor: Redactor, hold: Hold | None) -> Checks:
    """Checks on clean checkouts, in a sandbox where something holds them."""
    profile = loaded.settings.profile
    checks = ShellChecks(
        env=pick(loaded.environment, (*PASSED_VARIABLES, *profile.env_pass)) | {"CI": "true"},
        state=str(state),
        time_limit=timedelta(seconds=profile.check_timeout_s or 10**8),
        grace=timedelta(seconds=loaded.settings.agent.grace_s),
        sandbox=hold.sandbox if hold else None,
        readable=(hold.objects,) if hold else (),
    )
    return RedactedChecks(checks, redactor)


def make_tiered_agent(name: str, loaded: Loaded, redactor: Redactor, hold: Hold | None, model: str) -> Agent:
    """The agent of this name, in a sandbox where something holds it.

    Args:
        name: as the settings have it.
        loaded: the settings, and the environment that they came from.
        redactor: takes secrets out of what it says.
        hold: None is the open tier.
        model: what it gets when nobody names another.

    Raises:
        ConfigError: its settings do not describe one.
    """
    table, passed = loaded.settings.agents.get(name), loaded.settings.agent.env_pass
    changes = table.changes() if table else {}
    prices = {model: price.rates() for model, price in loaded.settings.prices.items()}
    agent = make_agent(name, changes, loaded.environment, passed, prices)
    if hold is not None:
        seen = pick(loaded.environment, (*SAFE_VARIABLES, *(table.env_pass if table else ()), *passed))
        agent = contain_agent(
            agent,
            lambda more: make_agent(name, changes, {**seen, **more}, passed, prices, is_root=False),
            Means(loaded.environment, merge_prices(prices), model),
            hold.sandbox,
            Confinement("", readable=(hold.objects,), hosts=loaded.settings.contained.hosts),
        )
    return RedactedAgent(agent, redactor)
