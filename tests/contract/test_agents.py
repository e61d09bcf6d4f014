from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.agents import make_agent
from whilly.adapters.demo.agent import DemoAgent
from whilly.testing.contracts.agent import SECRET, SECRET_NAME, AgentCase, AgentContract
from whilly.testing.models.script import Script, say, write
from whilly.testing.rigs.codex import CodexRig
from whilly.testing.rigs.gemini import GeminiRig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.rigs.rig import Rig

MARKER = "<promise>COMPLETE</promise>"
ITEM = json.dumps({"id": "T-1", "title": "do it", "key_files": ["hello.txt"]})
TEXT_PROGRAM = """
import sys
from pathlib import Path
prompt = Path(sys.argv[1]).read_text(encoding="utf-8") if len(sys.argv) > 1 else sys.stdin.read()
Path("hello.txt").write_text(prompt, encoding="utf-8")
print("I wrote hello.txt")
print("<promise>COMPLETE</promise>")
"""
JSONL_PROGRAM = """
import json, sys
from pathlib import Path
Path("hello.txt").write_text(sys.stdin.read(), encoding="utf-8")
usage = {"input_tokens": 3, "output_tokens": 4}
print(json.dumps({"type": "activity", "text": "write hello.txt"}))
result = {"message": "ok <promise>COMPLETE</promise>", "session": sys.argv[1], "cost_usd": 0.5, "usage": usage}
print(json.dumps({"type": "result", **result}))
"""


@pytest.fixture
def environ(test_environment: Mapping[str, str]) -> dict[str, str]:
    return {"PATH": test_environment["PATH"], SECRET_NAME: SECRET}


ACP_PROGRAM = """
import json, sys
from pathlib import Path

def send(**fields):
    print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)

def update(**fields):
    send(method="session/update", params={"sessionId": "s-1", "update": fields})

for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        send(id=asked["id"], result={"protocolVersion": 1})
    elif asked.get("method") == "session/new":
        send(id=asked["id"], result={"sessionId": "s-1"})
    elif asked.get("method") == "session/prompt":
        prompt = asked["id"]
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "I write."})
        options = [{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}]
        call = {"title": "hello.txt"}
        send(id="q", method="session/request_permission", params={"toolCall": call, "options": options})
    elif asked.get("id") == "q":
        assert asked["result"] == {"outcome": {"outcome": "selected", "optionId": "y"}}, asked
        path = str(Path.cwd() / "hello.txt")
        send(id="w", method="fs/write_text_file", params={"path": path, "content": "hi"})
    elif asked.get("id") == "w":
        assert "error" not in asked, asked
        update(sessionUpdate="tool_call_update", title="hello.txt", kind="edit", status="completed")
        for piece in ("Done. <promise>C", "OMPLETE</promise>"):
            update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": piece})
        update(sessionUpdate="usage_update", cost={"amount": 0.5})
        send(id=prompt, result={"stopReason": "end_turn", "usage": {"inputTokens": 3, "outputTokens": 4}})
"""


class TestDemoAgent(AgentContract):
    @pytest.fixture
    def case(self) -> AgentCase:
        prompt = f"Do this:\nwhilly-item: {ITEM}\n"
        absent = DemoAgent(python="/nowhere/python")
        return AgentCase(DemoAgent(), absent, prompt, "hello.txt", prompt)


class TestCommandAgentWithText(AgentContract):
    @pytest.fixture
    def case(self, tmp_path: Path, environ: Mapping[str, str]) -> AgentCase:
        program = tmp_path / "tool.py"
        program.write_text(TEXT_PROGRAM, encoding="utf-8")
        table = {"argv": [sys.executable, str(program), "{prompt_file}"], "install": "pip install tool"}
        agent = make_agent("mytool", table, environ)
        absent = make_agent("mytool", {**table, "program": "no-such-tool"}, environ)
        return AgentCase(agent, absent, "Say é", "hello.txt", "Say more")


class TestCommandAgentWithJsonLines(AgentContract):
    @pytest.fixture
    def case(self, tmp_path: Path, environ: Mapping[str, str]) -> AgentCase:
        program = tmp_path / "tool.py"
        program.write_text(JSONL_PROGRAM, encoding="utf-8")
        argv = [sys.executable, str(program), "{session}"]
        table = {"argv": argv, "output": "jsonl", "cost": "reported"}
        agent = make_agent("mytool", table, environ)
        absent = make_agent("mytool", {**table, "program": "no-such-tool"}, environ)
        return AgentCase(agent, absent, "Say é", "hello.txt", "Say more")


class TestAcpAgent(AgentContract):
    @pytest.fixture
    def case(self, tmp_path: Path, environ: Mapping[str, str]) -> AgentCase:
        program = tmp_path / "tool.py"
        program.write_text(ACP_PROGRAM, encoding="utf-8")
        table = {"kind": "acp", "argv": [sys.executable, str(program)], "cost": "reported", "install": "get it"}
        agent = make_agent("mytool", table, environ)
        absent = make_agent("mytool", {**table, "program": "no-such-tool"}, environ)
        return AgentCase(agent, absent, "Say é", "hello.txt", "Say more")


class TestClaudeCode(AgentContract):
    @pytest.fixture
    def case(
        self,
        tmp_path: Path,
        environ: dict[str, str],
        claude_program: str,
        scripted_model: Callable[..., ScriptedModel],
    ) -> Iterator[AgentCase]:
        scripts = (
            Script("TASK-A", (write("hello.txt", "hi\n"), say(f"Done. {MARKER}"))),
            Script("GO-ON", (say(f"Still done. {MARKER}"),), start=2),
        )
        with scripted_model(*scripts) as model:
            claude_home = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
            service = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "test-key"}
            source = {**environ, **claude_home, **service}
            agent = make_agent("claude", {"program": claude_program}, source)
            absent = make_agent("claude", {"program": "no-such-claude"}, source)
            yield AgentCase(agent, absent, "Do TASK-A, é", "hello.txt", "GO-ON please")


class OtherCli(AgentContract):
    """What the CLIs share that are put on a scripted model by a rig."""

    rig: Rig

    @pytest.fixture
    def program(self, request: pytest.FixtureRequest) -> str:
        return str(request.getfixturevalue(f"{self.rig.name}_program"))

    @pytest.fixture
    def case(
        self, tmp_path: Path, environ: dict[str, str], program: str, scripted_model: Callable[..., ScriptedModel]
    ) -> Iterator[AgentCase]:
        rig = self.rig
        scripts = (
            Script("TASK-A", (rig.write("hello.txt", "hi\n"), say(f"Done. {MARKER}"))),
            Script("GO-ON", (say(f"Still done. {MARKER}"),), start=2),
        )
        with scripted_model(*scripts) as model:
            source = {**environ, "HOME": str(tmp_path), **rig.settle(tmp_path, model.url)}
            agent = make_agent(rig.name, {"program": program, "model": rig.model}, source)
            absent = make_agent(rig.name, {"program": f"no-such-{rig.name}"}, source)
            yield AgentCase(agent, absent, "Do TASK-A, é", "hello.txt", "GO-ON please")


class TestCodex(OtherCli):
    rig = CodexRig()


class TestGemini(OtherCli):
    rig = GeminiRig()
