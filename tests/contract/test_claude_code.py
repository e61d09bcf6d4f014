"""How the real Claude Code fails, ends and goes on, against scripted models and dead servers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.agents import make_agent
from whilly.domain.attempt import Outcome
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import SessionRequest, claims_completion
from whilly.testing.models.canned import SILENCE, STALL, CannedServer, limit_usage
from whilly.testing.models.script import Script, bash, edit, fail, hang, read, say, write
from whilly.testing.sessions import Played, play_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.ports.agent import Agent
    from whilly.testing.models.scripted import ScriptedModel

DONE = say("Done. <promise>COMPLETE</promise>")
SUBSCRIPTION = {"CLAUDE_CODE_OAUTH_TOKEN": "test-token"}
SLEEP = "python3 -c 'import time; time.sleep(300)'"


@pytest.fixture
def make(claude_program: str, test_environment: Mapping[str, str], tmp_path: Path) -> Callable[..., Agent]:
    """Claude Code that talks to this server; further words are environment variables and settings."""

    def make_claude(url: str, *, safe: bool = False, **environ: str) -> Agent:
        home = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
        key = {} if "CLAUDE_CODE_OAUTH_TOKEN" in environ else {"ANTHROPIC_API_KEY": "test-key"}
        source = {"PATH": test_environment["PATH"], "ANTHROPIC_BASE_URL": url, **home, **key, **environ}
        return make_agent("claude", {"program": claude_program, "safe": safe}, source)

    return make_claude


@pytest.fixture
def ask(tmp_path: Path) -> SessionRequest:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return SessionRequest(
        attempt=AttemptId("run-1/1"),
        prompt="TASK",
        workspace=str(workspace),
        home=str(tmp_path),
        session=SessionId("0f0e0d0c-1111-4222-8333-444455556666"),
        model="claude-sonnet-4-5",
    )


async def play(
    agent: Agent, ask: SessionRequest, limit: float = 120, until: Callable[[], bool] | None = None
) -> Played:
    return await play_session(agent, agent.launch(ask), limit, until)


async def test_cost_and_tokens_are_this_sessions_own(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest, tmp_path: Path
) -> None:
    scripts = (
        Script("TASK", (write("a.txt", "one\n"), read("a.txt"), edit("a.txt", "one", "two"), DONE)),
        Script("AGAIN", (DONE,), start=4),
    )
    with scripted_model(*scripts) as model:
        first = await play(make(model.url), ask)
        second = await play(make(model.url), replace(ask, prompt="AGAIN", resume=ask.session))
    assert (tmp_path / "workspace" / "a.txt").read_text() == "two\n"
    assert [activity.text for activity in first.activities] == ["write a.txt", "read a.txt", "edit a.txt"]
    usages = [played.report.usage for played in (first, second)]
    assert [usage and (usage.cost_usd, usage.input_tokens, usage.output_tokens) for usage in usages] == [
        (Decimal("0.015"), 4000, 200),
        (Decimal("0.00375"), 1000, 50),
    ]
    assert {first.report.session, second.report.session} == {ask.session}


async def test_a_limit_of_turns_is_no_progress(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    with scripted_model(Script("TASK", then=bash("true"))) as model:
        report = (await play(make(model.url), replace(ask, max_turns=2))).report
    assert report.outcome is Outcome.NO_PROGRESS
    assert report.reason == "Claude Code: Reached maximum number of turns (2)"


async def test_a_limit_of_cost_is_over_budget_and_its_cost_is_known(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    with scripted_model(Script("TASK", then=bash("true"))) as model:
        report = (await play(make(model.url), replace(ask, max_cost_usd=Decimal("0.010")))).report
    assert report.outcome is Outcome.OVER_BUDGET
    assert report.usage is not None
    assert report.usage.cost_usd == Decimal("0.01125")


async def test_a_refused_key_is_told_at_the_first_refusal(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    with scripted_model(Script("TASK", then=fail(401, "authentication_error", "invalid x-api-key"))) as model:
        played = await play(make(model.url), ask)
        requests = len([each for each in model.requests() if each["path"].startswith("/v1/messages")])
    assert played.report.outcome is Outcome.AUTH_FAILED
    assert "/login" in played.report.reason
    assert played.exit_.cause == "stopped"
    assert requests <= 2


async def test_no_login_at_all_is_an_authentication_failure(make: Callable[..., Agent], ask: SessionRequest) -> None:
    report = (await play(make("http://127.0.0.1:9", ANTHROPIC_API_KEY=""), ask)).report
    assert report.outcome is Outcome.AUTH_FAILED
    assert report.usage is not None
    assert report.usage.cost_usd == 0


async def test_a_passing_limit_is_waited_for(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    with scripted_model(Script("TASK", (DONE,), once=fail(429, "rate_limit_error"))) as model:
        played = await play(make(model.url), ask)
    assert played.report.outcome is Outcome.COMPLETED
    assert [activity.text for activity in played.activities] == ["wait: rate_limit, retry 1 of 2"]


@pytest.mark.parametrize(
    ("status", "kind", "outcome"),
    [
        (429, "rate_limit_error", Outcome.LIMITED),
        (529, "overloaded_error", Outcome.UNAVAILABLE),
        (500, "api_error", Outcome.UNAVAILABLE),
    ],
)
async def test_a_refusal_that_stays_says_when_to_come_back(
    make: Callable[..., Agent],
    scripted_model: Callable[..., ScriptedModel],
    ask: SessionRequest,
    status: int,
    kind: str,
    outcome: Outcome,
) -> None:
    with scripted_model(Script("TASK", then=fail(status, kind))) as model:
        report = (await play(make(model.url), ask)).report
    assert report.outcome is outcome
    assert report.retry_at is not None
    assert abs(report.retry_at - datetime.now(UTC)) < timedelta(minutes=5)  # noqa: TID251  (Claude's own clock)


async def test_a_refused_connection_is_unavailable(make: Callable[..., Agent], ask: SessionRequest) -> None:
    assert (await play(make("http://127.0.0.1:9"), ask)).report.outcome is Outcome.UNAVAILABLE


async def test_a_usage_limit_says_when_it_ends(make: Callable[..., Agent], ask: SessionRequest) -> None:
    resets_at = datetime(2040, 1, 2, 3, 4, 5, tzinfo=UTC)
    with CannedServer(limit_usage(resets_at)) as server:
        report = (await play(make(server.url, **SUBSCRIPTION), ask)).report
    assert report.outcome is Outcome.LIMITED
    assert report.retry_at == resets_at
    assert report.session == ask.session


async def test_a_server_that_never_answers_is_unavailable_in_the_end(
    make: Callable[..., Agent], ask: SessionRequest
) -> None:
    with CannedServer(SILENCE) as server:
        report = (await play(make(server.url, API_TIMEOUT_MS="300"), ask)).report
    assert report.outcome is Outcome.UNAVAILABLE


async def test_a_stream_that_stalls_costs_an_unknown_amount(make: Callable[..., Agent], ask: SessionRequest) -> None:
    with CannedServer(STALL) as server:
        played = await play(
            make(server.url), ask, until=lambda: any("/v1/messages" in request for request in server.requests)
        )
    assert played.report.outcome is Outcome.TIMED_OUT
    assert played.report.usage is not None
    assert played.report.usage.cost_usd is None


async def test_a_session_that_does_not_exist_is_lost(make: Callable[..., Agent], ask: SessionRequest) -> None:
    unknown = SessionId("00000000-0000-4000-8000-000000000000")
    report = (await play(make("http://127.0.0.1:9"), replace(ask, resume=unknown))).report
    assert (report.outcome, report.is_session_lost, report.session) == (Outcome.CRASHED, True, None)


async def test_a_session_ended_within_a_tool_goes_on_afterwards(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    scripts = (Script("TASK", (bash(SLEEP),)), Script("AGAIN", then=DONE))
    with scripted_model(*scripts) as model:
        agent = make(model.url)
        launch = agent.launch(ask)
        process = await asyncio.create_subprocess_exec(
            *launch.argv,
            cwd=launch.cwd,
            env=dict(launch.env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ask.prompt.encode())
        process.stdin.close()
        async for line in process.stdout:
            if b'"tool_use"' in line:
                process.terminate()
        assert await process.wait() == 143
        report = (await play(agent, replace(ask, prompt="AGAIN", resume=ask.session))).report
    assert report.outcome is Outcome.COMPLETED
    assert claims_completion(report.final_message)


async def test_a_model_that_hangs_is_ended_by_the_time_limit(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    with scripted_model(Script("TASK", then=hang())) as model:
        played = await play(make(model.url), ask, limit=5)
    assert played.report.outcome is Outcome.TIMED_OUT


async def test_safe_mode_keeps_commands_from_running(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest, tmp_path: Path
) -> None:
    scripts = (Script("TASK", (write("a.txt", "hi\n"), bash("python3 b.py"), DONE)),)
    with scripted_model(*scripts) as model:
        played = await play(make(model.url, safe=True), ask)
    assert played.report.outcome is Outcome.COMPLETED
    assert [path.name for path in (tmp_path / "workspace").iterdir()] == ["a.txt"]
    assert [activity.text for activity in played.activities] == ["write a.txt", "$ python3 b.py", "denied: Bash"]


async def test_the_words_of_completion_in_a_tool_result_are_no_claim(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest
) -> None:
    scripts = (Script("TASK", (bash("echo '<promise>COMPLETE</promise>'"), say("I am not done yet."))),)
    with scripted_model(*scripts) as model:
        report = (await play(make(model.url), ask)).report
    assert report.outcome is Outcome.COMPLETED
    assert not claims_completion(report.final_message)


async def test_parallel_sessions_follow_their_own_scripts(
    make: Callable[..., Agent], scripted_model: Callable[..., ScriptedModel], ask: SessionRequest, tmp_path: Path
) -> None:
    scripts = [Script(f"TASK-{n}", (write(f"{n}.txt", f"{n}\n"), DONE)) for n in (1, 2)]
    with scripted_model(*scripts) as model:
        agent = make(model.url)
        sessions = (f"0f0e0d0c-1111-4222-8333-44445555666{n}" for n in (1, 2))
        asks = [
            replace(ask, prompt=f"TASK-{n}", session=SessionId(session)) for n, session in enumerate(sessions, start=1)
        ]
        played = await asyncio.gather(*(play(agent, each) for each in asks))
    assert [each.report.outcome for each in played] == [Outcome.COMPLETED] * 2
    assert sorted(path.name for path in (tmp_path / "workspace").iterdir()) == ["1.txt", "2.txt"]


@pytest.mark.parametrize("is_logged_in", [True, False])
async def test_probe_sees_a_login_without_asking_anybody(
    make: Callable[..., Agent], tmp_path: Path, *, is_logged_in: bool
) -> None:
    if is_logged_in:
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude" / ".credentials.json").write_text("{}")
    health = await make("http://127.0.0.1:9", ANTHROPIC_API_KEY="").probe()
    assert health.version.startswith("2.")
    assert health.is_logged_in is is_logged_in
    assert bool(health.problem) is not is_logged_in
