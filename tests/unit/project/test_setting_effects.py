"""Every setting of a run reaches the part that obeys it; what the parts do with it is shown by their own tests."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.bubblewrap.agent import ContainedAgent
from whilly.adapters.bubblewrap.sandbox import BubblewrapSandbox
from whilly.adapters.git.contained.policy import GitPolicy
from whilly.application.choose_target import choose_target
from whilly.bootstrap import Project, pass_by, rules
from whilly.cli.work.preflight import require_repository
from whilly.config.layers import Sources, combine
from whilly.domain.change import CheckCommand
from whilly.domain.confinement import Tier
from whilly.domain.ids import AttemptId, ItemId
from whilly.domain.machine import Thresholds
from whilly.domain.work_item import WorkItem
from whilly.testing.scratch import ScratchRepository
from whilly.tui.choose import Style, fitting_style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.domain.flow.brief import Profile, SessionLimits


@pytest.fixture
def scratch(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.make(tmp_path)


@pytest.fixture
def project(scratch: ScratchRepository, test_environment: Mapping[str, str]) -> Callable[..., Project]:
    def make(**settings: object) -> Project:
        flags = {key.replace("__", "."): value for key, value in settings.items()}
        environ = {"PATH": test_environment["PATH"], "HOME": str(scratch.home), "SECRET_WORD": "opensesame"}
        loaded = combine(Sources(scratch.root, scratch.home / "config.toml", environ, flags))
        return Project(scratch.root, loaded, pass_by)

    return make


def check(project: Project, command: str) -> tuple[bool, str]:
    report = asyncio.run(project.ports().checks.run(AttemptId("r/1"), str(project.root), [CheckCommand(run=command)]))
    return report.failure is None, report.failure.summary if report.failure else ""


def passed_to(project: Project, agent: str) -> str:
    return str(vars(vars(project.make_agent(agent))["_agent"])["_env"].values())


def target(project: Project) -> tuple[str, str]:
    base = asyncio.run(require_repository(project))
    wanted, aside = project.settings.repository.target, f"{project.settings.repository.branch_prefix}plan"
    branches = asyncio.run(choose_target(project.repository, base, wanted, aside))
    return branches.base, branches.target


def limits(project: Project) -> SessionLimits:
    return rules(project.settings).limits


def profile(project: Project) -> Profile:
    return rules(project.settings).profile


def style(project: Project) -> Style:
    class Terminal:
        def isatty(self) -> bool:
            return True

    return fitting_style(Terminal(), is_headless=project.settings.run.headless)  # type: ignore[arg-type]  # all it asks for


def held(project: Project) -> BubblewrapSandbox:
    assert isinstance(project.sandbox, BubblewrapSandbox)
    return project.sandbox


def policy(project: Project) -> GitPolicy:
    assert isinstance(project.policy, GitPolicy)
    return project.policy


def hosts(project: Project) -> tuple[str, ...]:
    contained = vars(project.make_agent("demo", Tier.CONTAINED))["_agent"]
    assert isinstance(contained, ContainedAgent)
    return contained._reach.hosts


EFFECTS: list[tuple[str, object, Callable[[Project], Any], Any]] = [
    ("run.max_attempts", 7, lambda p: p.pipelines["solo"].stages["execute"].attempts, 7),
    ("run.headless", True, style, Style.JSON),
    ("agent.name", "demo", lambda p: p.default_agent, "demo"),
    ("agent.model", "opus", lambda p: p._staff({}).default_model, "opus"),
    ("agent.attempt_timeout_s", 9, lambda p: limits(p).attempt, timedelta(seconds=9)),
    ("agent.first_output_s", 9, lambda p: limits(p).first_output, timedelta(seconds=9)),
    ("agent.stall_s", 9, lambda p: limits(p).silence, timedelta(seconds=9)),
    ("agent.result_grace_s", 9, lambda p: limits(p).after_result, timedelta(seconds=9)),
    ("agent.max_output_mb", 9, lambda p: limits(p).output, 9 << 20),
    ("handoff.timeout_s", 9, lambda p: limits(p).handoff, timedelta(seconds=9)),
    ("machine.guarded", False, lambda p: rules(p.settings).machine, Thresholds()),
    ("machine.max_cpu_percent", 50, lambda p: rules(p.settings).machine.max_cpu, 0.5),
    ("machine.max_memory_percent", 50, lambda p: rules(p.settings).machine.max_memory, 0.5),
    ("machine.min_free_disk_gb", 2, lambda p: rules(p.settings).machine.min_disk, 2 << 30),
    ("agent.grace_s", 9, lambda p: limits(p).grace, timedelta(seconds=9)),
    ("agent.reservation_usd", "2.5", lambda p: p._staff({}).reservation, Decimal("2.5")),
    ("agent.max_turns", 9, lambda p: limits(p).max_turns, 9),
    ("agent.env_pass", ["SECRET_WORD"], lambda p: "opensesame" in passed_to(p, "claude"), True),
    ("agent.isolation", "contained", lambda p: type(p.workspace).__name__, "ContainedWorkspace"),
    (
        "agents.claude.isolation",
        "contained",
        lambda p: p.tier_of(WorkItem(ItemId("A"), "a", agent="claude")),
        Tier.CONTAINED,
    ),
    ("contained.user", "61234", lambda p: held(p)._user, "61234"),
    ("contained.read", ["/opt/tools"], lambda p: held(p)._readable, ("/opt/tools",)),
    ("contained.verdict_names", ["review.md"], lambda p: policy(p)._verdicts, ("review.md",)),
    ("contained.always_accept", ["./.github"], lambda p: policy(p)._accepted, (".github",)),
    (
        "contained.hosts",
        ["Example.org:8443"],
        hosts,
        ("example.org:8443",),
    ),
    ("contained.memory_mb", 9, lambda p: held(p)._limits.memory_mb, 9),
    ("contained.processes", 9, lambda p: held(p)._limits.processes, 9),
    ("contained.file_mb", 9, lambda p: held(p)._limits.file_mb, 9),
    ("contained.disk_mb", 9, lambda p: held(p)._limits.disk_mb, 9),
    ("repository.branch_prefix", "robots/", lambda p: target(p)[1], "robots/plan"),
    ("repository.target", "elsewhere", lambda p: target(p)[1], "elsewhere"),
    ("repository.base_branch", "trunk", lambda p: target(p)[0], "trunk"),
    ("profile.setup", ["make"], lambda p: [c.run for c in profile(p).setup], ["make"]),
    ("profile.verify", ["make"], lambda p: [c.run for c in profile(p).verify], ["make"]),
    ("profile.repair_verify", ["make"], lambda p: [c.run for c in profile(p).repair_verify], ["make"]),
    ("profile.allowed_paths", ["src"], lambda p: profile(p).allowed_paths, ("src",)),
    ("profile.forbidden_paths", ["src"], lambda p: profile(p).forbidden_paths, ("src",)),
    ("profile.check_timeout_s", 0.2, lambda p: check(p, "sleep 5")[0], False),
    ("profile.env_pass", ["SECRET_WORD"], lambda p: check(p, 'test "$SECRET_WORD" = opensesame')[0], True),
    ("storage.database_url", "sqlite:////tmp/other.db", lambda p: p.database_url, "sqlite:////tmp/other.db"),
]


@pytest.mark.parametrize(("key", "value", "look", "expected"), EFFECTS, ids=[effect[0] for effect in EFFECTS])
def test_each_setting_changes_what_a_run_is_made_of(
    project: Callable[..., Project],
    scratch: ScratchRepository,
    key: str,
    value: object,
    look: Callable[[Project], Any],
    expected: object,
) -> None:
    scratch.git("branch", "trunk")
    quick = {} if key == "profile.check_timeout_s" else {"profile__check_timeout_s": 20.0}
    assert look(project(**quick, **{key.replace(".", "__"): value})) == expected
    if key != "profile.check_timeout_s":
        assert look(project(**quick)) != expected
