from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.agents import make_agent
from whilly.adapters.command.agent import CommandAgent
from whilly.adapters.command.descriptor import parse_descriptor
from whilly.adapters.command.environment import pick_environment
from whilly.domain.errors import ConfigError
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import SessionRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.ports.agent import Agent

PYTHON = str(Path(sys.executable).absolute())
ENV = {"PATH": str(Path(sys.executable).parent), "HOME": "/home/ada", "AWS_SECRET_ACCESS_KEY": "x"}
REQUEST = SessionRequest(
    attempt=AttemptId("run-1/2"),
    prompt="do it",
    workspace="/w",
    home="/h",
    session=SessionId("s-1"),
)


def make(name: str = "mytool", *, environ: Mapping[str, str] = ENV, **table: object) -> Agent:
    return make_agent(name, table, environ)


def test_every_placeholder_has_its_value() -> None:
    argv = ["{program}", "{prompt_file}", "{workspace}", "{home}", "{id}", "{model}", "{session}", "{new_session}"]
    argv += ["{max_turns}", "{max_cost}", "{permission}", "<{resume}>"]
    permissions = {"free": "all", "safe": "some"}
    agent = make(argv=argv, program=sys.executable, permissions=permissions, extra_args=["--last", "{as it is}"])
    request = replace(REQUEST, model="m", max_turns=3, max_cost_usd=Decimal("0.50"))
    values = ("/h/stdin", "/w", "/h", "run-1/2", "m", "s-1", "s-1", "3", "0.50", "all", "<>")
    assert agent.launch(request).argv == (PYTHON, *values, "--last", "{as it is}")


def test_a_resumed_session_is_named_as_such() -> None:
    agent = make(argv=[sys.executable, "{session}", ["new", "{new_session}"], ["old", "{resume}"]])
    assert agent.launch(REQUEST).argv[1:] == ("s-1", "new", "s-1")
    assert agent.launch(replace(REQUEST, resume=SessionId("s-0"))).argv[1:] == ("s-0", "old", "s-0")
    assert agent.facts().can_resume


def test_the_prompt_is_on_standard_input_unless_it_is_an_argument() -> None:
    assert make(argv=[sys.executable]).launch(REQUEST).stdin == "do it"
    assert make(argv=[sys.executable, "{prompt_file}"]).launch(REQUEST).stdin == "do it"
    launch = make(argv=[sys.executable, "{prompt}"]).launch(REQUEST)
    assert (launch.stdin, launch.argv[1]) == (None, "do it")


def test_a_prompt_too_long_for_an_argument_is_an_error_with_a_way_out() -> None:
    agent = make(argv=[sys.executable, "{prompt}"])
    with pytest.raises(ConfigError, match="prompt_file"):
        agent.launch(replace(REQUEST, prompt="é" * 70_000))


def test_a_program_is_looked_up_on_the_agents_own_path() -> None:
    name = Path(sys.executable).name
    assert make(argv=[name]).launch(REQUEST).argv == (PYTHON,)
    with pytest.raises(ConfigError, match="not installed"):
        make(argv=[name], environ={"PATH": "/nowhere"}).launch(REQUEST)


def test_a_path_without_a_program_says_which_command_installs_it() -> None:
    with pytest.raises(ConfigError, match="npm install -g @anthropic-ai/claude-code"):
        make("claude", program="/nowhere/claude").launch(REQUEST)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"argv": ["x", "{promt}"]}, r"agents\.mytool\.argv: unknown placeholder \{promt\}.*\{prompt\}"),
        ({"argv": []}, r"agents\.mytool: argv"),
        ({}, r"agents\.mytool: argv"),
        ({"argv": ["x"], "outptu": "text"}, r"unknown key outptu, did you mean output\?"),
        ({"argv": ["x"], "output": "xml"}, r"output: Input should be 'text', 'jsonl'"),
        ({"argv": "x y"}, r"argv"),
        (
            {"argv": ["x"], "kind": "codes"},
            r"unknown kind 'codes'.*opencode, acp, command, demo",
        ),
    ],
)
def test_settings_that_describe_no_agent_are_an_error_that_says_why(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make(**table)


def test_the_same_kind_may_be_there_twice_with_other_settings() -> None:
    agent = make("careful", kind="claude", safe=True, program=sys.executable)
    argv = agent.launch(REQUEST).argv
    assert argv[argv.index("--permission-mode") + 1] == "acceptEdits"


def test_a_program_is_started_itself_instead_of_its_launcher(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "@openai" / "codex"
    native = tmp_path / "lib" / "@openai" / "codex-linux-x64" / "vendor" / "musl" / "bin" / "codex"
    for program in (package / "bin" / "codex.js", native):
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(package / "bin" / "codex.js")
    environ = {"PATH": str(tmp_path / "bin")}
    assert make("codex", environ=environ).launch(REQUEST).argv[0] == str(native)
    native.chmod(0o644)
    assert make("codex", environ=environ).launch(REQUEST).argv[0] == str(tmp_path / "bin" / "codex")


def test_codex_command_line() -> None:
    agent = make("codex", program=sys.executable, model="m", safe=True)
    argv = agent.launch(replace(REQUEST, workspace='/w "1"')).argv
    assert argv[1:5] == ("exec", "--json", "--skip-git-repo-check", "--sandbox")
    assert argv[5] == "workspace-write"
    assert 'projects={"/w \\"1\\""={trust_level="untrusted"}}' in argv
    assert argv[-3:] == ("--model", "m", "-")
    again = agent.launch(replace(REQUEST, resume=SessionId("s-2"), model="n")).argv
    assert again[-5:] == ("--model", "n", "resume", "s-2", "-")


def test_claude_codes_command_line() -> None:
    agent = make("claude", program=sys.executable, extra_args=["--verbose"])
    fixed = (PYTHON, "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions")
    launch = agent.launch(REQUEST)
    assert launch.argv[:7] == fixed
    assert launch.argv[7:11] == ("--setting-sources", "user", "--strict-mcp-config", "--append-system-prompt")
    assert launch.argv[-3:] == ("--session-id", "s-1", "--verbose")
    assert launch.stdin == "do it"


def test_a_trusted_repositorys_own_settings_count() -> None:
    for kind in ("claude", "codex"):
        plain, trusting = (make(kind, program=sys.executable, trust=trust).launch(REQUEST) for trust in (False, True))
        assert len(trusting.argv) < len(plain.argv)
    assert "--setting-sources" not in make("claude", program=sys.executable, trust=True).launch(REQUEST).argv


def test_claude_code_gets_its_login_and_no_other_secret() -> None:
    secrets = {"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "SSH_AUTH_SOCK": "/s", "WHILLY_DATABASE_URL": "d"}
    env = make("claude", program=sys.executable, environ={**ENV, **secrets}).launch(REQUEST).env
    assert env["ANTHROPIC_API_KEY"] == "k"
    assert env["HOME"] == "/home/ada"
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert not {"GITHUB_TOKEN", "SSH_AUTH_SOCK", "WHILLY_DATABASE_URL", "AWS_SECRET_ACCESS_KEY"} & set(env)


@pytest.mark.parametrize("is_root", [True, False])
def test_some_variables_are_for_root_only(*, is_root: bool) -> None:
    descriptor = parse_descriptor("x", {"argv": [sys.executable], "env_set_as_root": {"IS_SANDBOX": "1"}})
    env = CommandAgent(descriptor, ENV, is_root=is_root).launch(REQUEST).env
    assert ("IS_SANDBOX" in env) is is_root


def test_a_star_passes_every_name_that_begins_so() -> None:
    source = {"LC_ALL": "C", "LC_TIME": "C", "LCX": "no", "PATH": "/bin"}
    assert sorted(pick_environment(source, ("LC_*", "PATH"))) == ["LC_ALL", "LC_TIME", "PATH"]
    assert pick_environment(source, ()) == {}


def test_more_variables_are_passed_when_the_user_says_so() -> None:
    agent = make_agent("t", {"argv": [sys.executable], "env_pass": ["ONE"]}, {**ENV, "ONE": "1", "TWO": "2"}, ["TWO"])
    env = agent.launch(REQUEST).env
    assert (env["ONE"], env["TWO"]) == ("1", "2")


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import time; time.sleep(60)", "did not answer within 0.5 s"),
        ("import sys; print('broken'); sys.exit(3)", "failed with exit code 3: broken"),
    ],
)
async def test_a_program_that_does_not_say_its_version_is_a_finding(program: str, problem: str) -> None:
    table = {"argv": [sys.executable], "version_args": ["-c", program], "install": "get it"}
    agent = CommandAgent(parse_descriptor("x", table), ENV, probe_limit=timedelta(seconds=0.5))
    health = await agent.probe()
    assert problem in health.problem
    assert health.remedy == "get it"


async def test_a_file_that_is_no_program_is_a_finding(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    health = await make(argv=[str(broken)]).probe()
    assert "cannot be started" in health.problem


async def test_the_first_login_file_that_can_be_is_the_one_that_counts(tmp_path: Path) -> None:
    (tmp_path / "home" / ".x").mkdir(parents=True)
    (tmp_path / "home" / ".x" / "login").touch()
    table: dict[str, Any] = {
        "argv": [sys.executable],
        "login_files": ["$X_DIR/login", "$HOME/.x/login"],
        "env_pass": ["X_DIR"],
    }
    home = {**ENV, "HOME": str(tmp_path / "home")}
    assert (await make(environ=home, **table).probe()).is_logged_in is True
    assert (await make(environ={**home, "X_DIR": str(tmp_path)}, **table).probe()).is_logged_in is not True
