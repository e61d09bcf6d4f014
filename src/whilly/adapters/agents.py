"""Which agents there are by themselves, and how any agent is made from its settings."""

from __future__ import annotations

import os
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from whilly.adapters.command.agent import CommandAgent
from whilly.adapters.command.descriptor import load_descriptor, parse_descriptor
from whilly.adapters.command.environment import PASSED, pick_environment
from whilly.adapters.command.pricing import merge_prices
from whilly.adapters.demo.agent import DemoAgent
from whilly.adapters.handoff.agent import HandoffAgent
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from whilly.ports.agent import Agent

PACKAGED = {kind: f"{kind}/agent.toml" for kind in ("claude", "codex", "gemini", "opencode")}
"""Kind → its descriptor, beside this module."""

NO_CHANGES: Mapping[str, Mapping[str, Decimal]] = MappingProxyType({})

KINDS = (*PACKAGED, "acp", "command", "demo", "handoff")
NAMELESS = frozenset({"acp", "command"})
"""Kinds that are no agent yet without a command line of the user's."""


def make_agent(
    name: str,
    table: Mapping[str, object],
    environ: Mapping[str, str],
    env_pass: Sequence[str] = (),
    prices: Mapping[str, Mapping[str, Decimal]] = NO_CHANGES,
    *,
    is_root: bool | None = None,
) -> Agent:
    """The agent of this name.

    Args:
        name: a name of `KINDS`, or any other for a command of the user's own.
        table: its settings, without those that are not set: the keys of `AgentDescriptor`, and `kind` (empty is the
            name itself if it is one of `KINDS`, else `command`).
        environ: the environment that its processes may get an allowed part of.
        env_pass: more names that are allowed.
        prices: by model, rates that differ from the packaged list prices.
        is_root: whether it will run as root; None is as this process does.

    Raises:
        ConfigError: the settings do not describe an agent.
    """
    changes = dict(table)
    kind = str(changes.pop("kind", "") or (name if name in KINDS else "command"))
    if kind not in KINDS:
        message = f"agents.{name}: unknown kind {kind!r}"
        raise ConfigError(message, remedy=f"known: {', '.join(KINDS)}")
    if kind == "handoff":
        return _make_person(name, changes)
    if kind == "demo":
        return _make_demo(name, changes, environ)
    if kind in PACKAGED:
        descriptor = load_descriptor(Path(str(files("whilly.adapters").joinpath(PACKAGED[kind]))), changes)
    elif kind == "acp":
        shared = files("whilly.adapters").joinpath("acp/agent.toml").read_text(encoding="utf-8")
        descriptor = parse_descriptor(name, {**tomllib.loads(shared), **changes})
    else:
        descriptor = parse_descriptor(name, changes)
    passed = (*descriptor.env_pass, *env_pass)
    if is_root is None:
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    priced = merge_prices(prices) if descriptor.cost == "tokens" else {}
    return CommandAgent(descriptor.model_copy(update={"env_pass": passed}), environ, priced, is_root=is_root)


def _make_person(name: str, table: Mapping[str, object]) -> HandoffAgent:
    if table:
        message = f"agents.{name}: {', '.join(sorted(table))} means nothing to a person"
        raise ConfigError(message, remedy="it has one key, kind; handoff.timeout_s says how long they may take")
    return HandoffAgent(name)


def _make_demo(name: str, table: Mapping[str, object], environ: Mapping[str, str]) -> DemoAgent:
    unknown = sorted(set(table) - {"program"})
    if unknown:
        message = f"agents.{name}: {', '.join(unknown)} means nothing to the demo agent"
        raise ConfigError(message, remedy="it has one key, program: the Python that runs it")
    return DemoAgent(str(table.get("program") or sys.executable), env=pick_environment(environ, PASSED))
