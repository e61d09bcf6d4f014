"""Agents behind the Agent Client Protocol: a scripted one for what may go wrong, and a real one."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.agents import make_agent
from whilly.adapters.process.sessions import ProcessSessions
from whilly.domain.attempt import Outcome
from whilly.domain.errors import ConfigError
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import SessionRequest, claims_completion
from whilly.testing.models.script import Script, say
from whilly.testing.rigs.gemini import GeminiRig
from whilly.testing.sessions import play_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.testing.models.scripted import ScriptedModel

SCRIPTED = """
import json, os, sys, time
from pathlib import Path
answers = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    answer = answers.get(asked.get("method"))
    if answer == "end":
        sys.exit(3)
    if answer == "hang":
        Path("begun").touch()
        time.sleep(300)
    if answer is not None:
        print("no JSON at all")
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""
WELL = {"initialize": {"result": {}}, "session/new": {"result": {"sessionId": "s-1"}}}
SESSION = SessionId("0f0e0d0c-1111-4222-8333-444455556666")


@pytest.fixture
def ask(tmp_path: Path) -> SessionRequest:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return SessionRequest(AttemptId("run-1/1"), "TASK", str(workspace), str(tmp_path / "attempts" / "1"), SESSION)


@pytest.fixture
def script(tmp_path: Path, test_environment: Mapping[str, str]) -> Callable[..., Any]:
    """An agent that answers each method as it is told."""
    program = tmp_path / "scripted.py"
    program.write_text(SCRIPTED, encoding="utf-8")

    def make(answers: Mapping[str, object]) -> Any:  # noqa: ANN401  (an agent)
        table = {
            "kind": "acp",
            "argv": [sys.executable, str(program), json.dumps(answers).replace("{", "{{").replace("}", "}}")],
        }
        return make_agent("mytool", table, {"PATH": test_environment["PATH"]})

    return make


def fail(code: int, message: str = "no", **data: object) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "data": data}}


@pytest.mark.parametrize(
    ("answers", "outcome", "reason"),
    [
        ({"session/prompt": {"result": {"stopReason": "max_turn_requests"}}}, Outcome.NO_PROGRESS, "max_turn_requests"),
        ({"session/prompt": {"result": {"stopReason": "refusal"}}}, Outcome.CRASHED, "refusal"),
        ({"session/prompt": fail(-32000, "Authentication required")}, Outcome.AUTH_FAILED, "Authentication required"),
        ({"session/new": fail(-32000, "Authentication required")}, Outcome.AUTH_FAILED, "Authentication required"),
        ({"session/prompt": fail(-32603, errorKind="rate_limit")}, Outcome.LIMITED, "no"),
        ({"session/prompt": fail(429, "slow down")}, Outcome.LIMITED, "slow down"),
        ({"session/prompt": fail(529, "overloaded")}, Outcome.UNAVAILABLE, "overloaded"),
        ({"session/prompt": fail(-32603, "Internal error", details="odd")}, Outcome.CRASHED, "Internal error: odd"),
        ({"session/prompt": "end"}, Outcome.CRASHED, "exit code 3"),
        ({"initialize": "end"}, Outcome.CRASHED, "exit code 3"),
    ],
)
async def test_an_end_is_taken_for_what_it_is(
    script: Callable[..., Any], ask: SessionRequest, answers: dict[str, object], outcome: Outcome, reason: str
) -> None:
    agent = script({**WELL, **answers})
    report = (await play_session(agent, agent.launch(ask))).report
    assert (report.outcome, reason in report.reason) == (outcome, True), report.reason


async def test_an_agent_that_hangs_is_ended_with_its_bridge(
    script: Callable[..., Any], ask: SessionRequest, tmp_path: Path
) -> None:
    agent = script({**WELL, "session/prompt": "hang"})
    sessions = ProcessSessions(str(tmp_path / "state"))
    await sessions.start(ask.attempt, ask.home, agent.launch(ask))
    while not (tmp_path / "workspace" / "begun").exists():
        assert await sessions.wait(ask.home, 0.05) is None
    exit_ = await sessions.stop(ask.home)
    assert agent.reader().report(exit_).outcome is Outcome.INTERRUPTED


def test_it_needs_a_command_line(test_environment: Mapping[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"agents\.mytool: argv"):
        make_agent("mytool", {"kind": "acp"}, test_environment)


@pytest.mark.parametrize("is_safe", [False, True])
async def test_a_real_agent_works_and_its_questions_are_answered(
    ask: SessionRequest,
    tmp_path: Path,
    gemini_program: str,
    scripted_model: Callable[..., ScriptedModel],
    test_environment: Mapping[str, str],
    *,
    is_safe: bool,
) -> None:
    rig = GeminiRig()
    (tmp_path / ".gemini").mkdir()
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(auth))
    done = say("Done. <promise>COMPLETE</promise>")
    with scripted_model(Script("TASK", (rig.write("hello.txt", "hi\n"), done))) as model:
        table = {
            "kind": "acp",
            "argv": [gemini_program, "--acp", "--skip-trust", "--model", rig.model],
            "env_pass": ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
            "env_set": {"GEMINI_CLI_NO_RELAUNCH": "true"},
            "safe": is_safe,
        }
        source = {"PATH": test_environment["PATH"], "HOME": str(tmp_path), **rig.settle(tmp_path, model.url)}
        agent = make_agent("gem", table, source)
        played = await play_session(agent, agent.launch(ask))
    assert (tmp_path / "workspace" / "hello.txt").exists() is not is_safe
    assert any(activity.text.startswith("denied:") for activity in played.activities) is is_safe
    if not is_safe:
        assert played.report.outcome is Outcome.COMPLETED, played.report.reason
        assert claims_completion(played.report.final_message)
        assert played.report.usage is not None
        assert (played.report.usage.input_tokens, played.report.usage.output_tokens) == (2000, 100)
