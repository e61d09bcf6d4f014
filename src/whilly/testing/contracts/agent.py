"""The contract of the Agent port."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from whilly.domain.attempt import Outcome
from whilly.domain.errors import ConfigError
from whilly.domain.ids import AttemptId, SessionId
from whilly.domain.session import Exit, SessionRequest, claims_completion
from whilly.ports.agent import Agent
from whilly.testing.contracts.suite import ContractSuite
from whilly.testing.sessions import Played, play_session
from whilly.transport.process.records import STDIN_FILE

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "canary-2f6c1d"  # noqa: S105  (a canary, which must never be seen)
SECRET_NAME = "GITHUB_TOKEN"  # noqa: S105  (a name)

NOISE = (
    b"",
    b"\n",
    b"no JSON at all\n",
    b'{"type": "result", "resu\n',
    b'{"type": "assist\xc3\n',
    b"\x00\x00\x00\n",
    b'{"type": "result\x00"}\n',
    b"[1, 2]\n",
    b"null\n",
    b'{"type": null}\n',
    b'{"type": ["result"]}\n',
    b'{"type": "assistant", "message": "<promise>COMPLETE</promise>"}\n',
    b'{"type": "assistant", "message": {"content": [7, {"type": "text", "text": 8}], "usage": []}}\n',
    b'{"type": "stream_event", "event": []}\n',
    b'{"type": "rate_limit_event", "rate_limit_info": 1}\n',
    b'{"type": "of a later version", "is_error": false}\n',
    b'{"a":' * 20_000 + b"\n",
    b'{"big": ' + b"9" * 10_000 + b"}\n",
    b'{"type": "activity", "text": "' + b"x\\u0007\\n" * 500_000 + b'"}\n',
)
"""Lines that a CLI, a library inside it or a full disk may leave on standard output."""


@dataclass(frozen=True, slots=True)
class AgentCase:
    """An agent set up so that its sessions can be had here.

    Attributes:
        agent: its environment was picked from a source in which `SECRET_NAME` is set to `SECRET`.
        absent: the same agent where its program is not installed.
        prompt: makes it change `path` in the workspace and claim completion.
        resume_prompt: makes a resumed session claim completion.
    """

    agent: Agent
    absent: Agent
    prompt: str
    path: str
    resume_prompt: str


class AgentContract(ContractSuite):
    """Override the fixture `case`."""

    @pytest.fixture
    def ask(self, case: AgentCase, tmp_path: Path) -> SessionRequest:
        workspace, home = tmp_path / "workspace", tmp_path / "home"
        workspace.mkdir()
        home.mkdir()
        # Whoever starts a session has put its standard input there; a prompt file is that one.
        (home / STDIN_FILE).write_text(case.prompt, encoding="utf-8")
        return SessionRequest(
            attempt=AttemptId("run-1/1"),
            prompt=case.prompt,
            workspace=str(workspace),
            home=str(home),
            session=SessionId("0f0e0d0c-1111-4222-8333-444455556666"),
        )

    def test_facts_name_the_agent(self, case: AgentCase) -> None:
        facts = case.agent.facts()
        assert facts.name
        assert facts.label

    async def test_probe_finds_the_program(self, case: AgentCase) -> None:
        health = await case.agent.probe()
        assert health.program
        assert health.version
        assert not (health.problem and not health.remedy)

    async def test_an_absent_program_is_a_finding_and_an_error_at_start(
        self, case: AgentCase, ask: SessionRequest
    ) -> None:
        health = await case.absent.probe()
        assert health.program == ""
        assert health.problem
        with pytest.raises(ConfigError) as caught:
            case.absent.launch(ask)
        assert caught.value.remedy

    def test_launch_has_no_side_effects(self, case: AgentCase, ask: SessionRequest, tmp_path: Path) -> None:
        before = sorted(tmp_path.rglob("*"))
        assert case.agent.launch(ask) == case.agent.launch(ask)
        assert sorted(tmp_path.rglob("*")) == before

    def test_the_environment_is_an_allow_list(self, case: AgentCase, ask: SessionRequest) -> None:
        launch = case.agent.launch(ask)
        assert SECRET not in "\n".join((*launch.env, *launch.env.values(), *launch.argv))

    def test_text_of_the_prompt_is_no_command(self, case: AgentCase, ask: SessionRequest) -> None:
        launch = case.agent.launch(replace(ask, prompt="--help $(id) `id` ; id\x00"))
        assert "\x00" not in "".join(launch.argv)
        assert launch.argv[0] == case.agent.launch(ask).argv[0]
        assert "--help" not in launch.argv

    async def test_a_session_changes_the_workspace_and_claims_completion(
        self, case: AgentCase, ask: SessionRequest, tmp_path: Path
    ) -> None:
        played = await play_session(case.agent, case.agent.launch(ask))
        assert played.report.outcome is Outcome.COMPLETED, (played.report.reason, played.exit_)
        assert played.report.reason == ""
        assert claims_completion(played.report.final_message)
        assert (tmp_path / "workspace" / case.path).is_file()
        assert played.activities

    async def test_a_session_reports_what_the_facts_promise(self, case: AgentCase, ask: SessionRequest) -> None:
        facts = case.agent.facts()
        played = await play_session(case.agent, case.agent.launch(ask))
        usage = played.report.usage
        if facts.reports_usage:
            assert usage is not None
            assert usage.input_tokens > 0
            assert usage.output_tokens > 0
        assert (usage is not None and usage.cost_usd is not None) == facts.reports_cost

    async def test_a_session_goes_on_where_it_can(self, case: AgentCase, ask: SessionRequest) -> None:
        if not case.agent.facts().can_resume:
            assert case.agent.launch(replace(ask, resume=ask.session)).argv
            return
        first = await play_session(case.agent, case.agent.launch(ask))
        session = first.report.session or ask.session
        again = replace(ask, prompt=case.resume_prompt, resume=session)
        second = await play_session(case.agent, case.agent.launch(again))
        assert second.report.outcome is Outcome.COMPLETED, (second.report.reason, second.exit_)
        assert (second.report.session or session) == session

    async def test_reading_again_gives_the_same(self, case: AgentCase, ask: SessionRequest) -> None:
        played = await play_session(case.agent, case.agent.launch(ask))
        assert self.read(case.agent, played).report == played.report
        assert self.read(case.agent, played).activities == played.activities

    def test_no_line_is_an_error(self, case: AgentCase) -> None:
        reader = case.agent.reader()
        for line in NOISE:
            for activity in reader.feed(line):
                assert 0 < len(activity.text) <= 200
                assert activity.text.isprintable()
        report = reader.report(Exit(1))
        assert report.outcome is not Outcome.COMPLETED
        assert reader.fatal() == ""

    @pytest.mark.parametrize(
        ("exit_", "outcome"),
        [
            (Exit(1), Outcome.CRASHED),
            (Exit(None, 9), Outcome.CRASHED),
            (Exit(None, 15), Outcome.INTERRUPTED),
            (Exit(143), Outcome.INTERRUPTED),
            (Exit(None, 15, "stopped"), Outcome.INTERRUPTED),
            (Exit(0, None, "stopped"), Outcome.INTERRUPTED),
            (Exit(None, 9, "time_limit"), Outcome.TIMED_OUT),
            (Exit(None, None, "lost"), Outcome.INTERRUPTED),
        ],
    )
    def test_an_end_without_a_word_is_no_completion(self, case: AgentCase, exit_: Exit, outcome: Outcome) -> None:
        report = case.agent.reader().report(exit_)
        assert report.outcome is outcome
        assert report.reason

    async def test_an_end_by_force_is_no_completion_whatever_was_said(
        self, case: AgentCase, ask: SessionRequest
    ) -> None:
        played = await play_session(case.agent, case.agent.launch(ask))
        forced = replace(played, exit_=Exit(None, 15, "stopped"))
        assert self.read(case.agent, forced).report.outcome is Outcome.INTERRUPTED

    @staticmethod
    def read(agent: Agent, played: Played) -> Played:
        """The same lines and the same end, read by a fresh reader."""
        reader = agent.reader()
        activities = tuple(activity for line in played.lines for activity in reader.feed(line))
        return replace(played, activities=activities, report=reader.report(played.exit_))
