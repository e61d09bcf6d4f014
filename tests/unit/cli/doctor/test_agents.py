from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from whilly.cli.configure.agents import examine_agent
from whilly.cli.main import main

if TYPE_CHECKING:
    from tests.unit.cli.doctor.conftest import Clinic


def test_a_default_agent_that_is_not_installed_is_a_problem(clinic: Clinic) -> None:
    (clinic.programs / "claude").unlink()
    found = clinic.look().find("agent_missing")
    assert (found["severity"], found["remedy"]) == ("problem", "npm install -g @anthropic-ai/claude-code")


def test_where_another_agent_is_installed_it_may_be_the_remedy(clinic: Clinic) -> None:
    (clinic.programs / "claude").unlink()
    clinic.program("codex", "#!/bin/sh\necho codex-cli 0.171.0\n")
    found = clinic.look().find("agent_missing")
    assert found["remedy"] == "npm install -g @anthropic-ai/claude-code, or: whilly config set agent.name codex"


def test_an_agent_that_nobody_chose_may_be_missing(clinic: Clinic) -> None:
    (clinic.programs / "claude").unlink()
    clinic.write({"whilly.toml": '[agent]\nname = "demo"\n'})
    said = clinic.look()
    assert (said.code, said.codes, said.report["facts"]["agent.claude"]) == (0, [], "not installed")


def test_an_agent_that_the_settings_describe_and_that_is_missing_is_a_note(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": '[agents.mine]\nargv = ["no-such-program"]\n'})
    found = clinic.look().find("agent_missing")
    assert (found["severity"], found["subject"]) == ("note", "mine")


def test_a_default_agent_that_is_not_logged_in_is_a_problem_with_its_remedy(clinic: Clinic) -> None:
    clinic.monkeypatch.delenv("ANTHROPIC_API_KEY")
    found = clinic.look().find("agent_not_logged_in")
    assert "/login" in found["remedy"]


def test_an_agent_whose_login_cannot_be_told_is_no_finding(clinic: Clinic) -> None:
    clinic.program("mine", "#!/bin/sh\necho mine 1.0\n")
    clinic.write({"whilly.toml": '[agent]\nname = "mine"\n[agents.mine]\nargv = ["mine"]\n'})
    said = clinic.look()
    assert (said.code, said.report["facts"]["agent.mine"]) == (0, "mine 1.0, login unknown, the default")


def test_an_agent_that_fails_is_a_problem_if_it_is_the_default(clinic: Clinic) -> None:
    clinic.program("claude", "#!/bin/sh\necho no licence; exit 3\n")
    found = clinic.look().find("agent_broken")
    assert (found["severity"], "exit code 3: no licence" in found["what"]) == ("problem", True)
    clinic.write({"whilly.toml": '[agent]\nname = "demo"\n'})
    assert clinic.look().find("agent_broken")["severity"] == "note"


def test_a_command_of_ones_own_need_not_know_its_version(clinic: Clinic) -> None:
    clinic.program("mine", "#!/bin/sh\nexit 2\n")
    clinic.write({"whilly.toml": '[agent]\nname = "mine"\n[agents.mine]\nargv = ["mine"]\n'})
    said = clinic.look()
    assert said.code == 0
    assert said.find("agent_broken")["remedy"] == "set agents.mine.version_args to what it understands"


def test_an_agent_that_does_not_answer_is_not_waited_for(clinic: Clinic) -> None:
    clinic.program("claude", "#!/bin/sh\nsleep 60\n")
    report = asyncio.run(examine_agent(clinic.project(), "claude", limit=0.1))
    assert report.health.problem == "it did not say its version within 0.1 s"


def test_a_default_agent_that_nobody_knows_is_a_problem(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": '[agent]\nname = "claud"\n'})
    found = clinic.look().find("agent_unknown")
    assert found["remedy"] == "whilly config set agent.name claude"


def test_settings_that_describe_no_agent_are_a_problem_and_hide_no_other_agent(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": '[agents.mine]\nargv = ["x", "{oops}"]\n'})
    said = clinic.look()
    assert said.find("agent_misconfigured")["subject"] == "mine"
    assert said.report["facts"]["agent.claude"].startswith("2.1.332")


def test_agents_are_listed_with_what_they_can_do(clinic: Clinic) -> None:
    clinic.capsys.readouterr()
    assert main(["agents"]) == 0
    plain = clinic.capsys.readouterr().out
    assert "claude: 2.1.332, logged in, the default\n  Claude Code; resumes sessions, reports tokens" in plain
    assert main(["agents", "list", "--json"]) == 0
    listed = json.loads(clinic.capsys.readouterr().out)
    assert [agent["name"] for agent in listed["agents"]] == ["claude", "codex", "demo", "gemini", "handoff", "opencode"]
    claude, codex = listed["agents"][:2]
    assert listed["default"] == "claude"
    assert (codex["is_installed"], codex["is_priced"], codex["bounds_cost"]) == (False, True, False)
    assert codex["remedy"] == "npm install -g @openai/codex"
    assert claude == {
        "name": "claude",
        "label": "Claude Code",
        "is_default": True,
        "is_installed": True,
        "program": str(clinic.programs / "claude"),
        "version": "2.1.332",
        "is_logged_in": True,
        "can_resume": True,
        "reports_usage": True,
        "reports_cost": True,
        "is_priced": False,
        "reports_limits": True,
        "bounds_turns": True,
        "bounds_cost": True,
        "has_safe_mode": True,
        "runs_plugins": False,
        "problem": None,
        "remedy": None,
    }
