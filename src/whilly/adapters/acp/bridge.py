"""Speaks the Agent Client Protocol (version 1) with an agent, and Whilly's JSON lines with Whilly.

It runs by itself (`python -I -S bridge.py allow|reject PROGRAM …`), so it imports the standard library only. The prompt
comes on standard input. One session, one turn: `initialize`, `session/new`, `session/prompt`. Questions for permission
are answered at once: `allow` allows, `reject` refuses. What the agent writes through its client lands in the working
directory, or nowhere.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

VERSION = 1
NOT_FOUND = -32601
AUTH_REQUIRED = -32000
TOO_MANY = 429
PATIENCE_S = 2.0
STOPS = {"max_tokens": "no_progress", "max_turn_requests": "no_progress", "refusal": "crashed", "cancelled": "crashed"}
"""Why a turn stopped → the outcome; `end_turn` is an end in order."""
KINDS = {
    "rate_limit": "limited",
    "overloaded": "unavailable",
    "authentication_failed": "auth_failed",
    "billing_error": "auth_failed",
}
"""What some agents say in an error's `data.errorKind` → the outcome."""


class Failed(Exception):
    """The agent answered a request with an error."""


def emit(**event: object) -> None:
    """Write one JSON line at once."""
    sys.stdout.write(json.dumps(event, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def get(data: object, *path: str) -> Any:  # noqa: ANN401  (JSON of somebody else)
    """What is at this path of nested objects; None when there is nothing."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


class Session:
    """The client's side of the protocol."""

    def __init__(self, agent: subprocess.Popen[bytes], answer: str, root: Path) -> None:
        self._in: IO[bytes] = agent.stdin  # type: ignore[assignment]  # a pipe
        self._out: IO[bytes] = agent.stdout  # type: ignore[assignment]  # the same
        self._answer = answer
        self._root = root
        self._count = 0
        self.id = ""
        self.message = ""
        self.cost: float | None = None

    def send(self, **fields: object) -> None:
        """Write one message of the protocol."""
        self._in.write(json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n")
        self._in.flush()

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401  (as above)
        """The agent's answer to a request; what it says and asks meanwhile is dealt with.

        Raises:
            Failed: the answer is an error.
            EOFError: the agent has ended.
        """
        self._count += 1
        number = self._count
        self.send(id=number, method=method, params=params)
        for line in self._out:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if get(said, "method"):
                self._hear(said)
            elif get(said, "id") == number:
                if get(said, "error") is not None:
                    raise Failed(said["error"])
                return get(said, "result")
        raise EOFError(method)

    def _hear(self, said: dict[str, Any]) -> None:
        method, params = said["method"], said.get("params")
        if method == "session/update":
            self._read_update(get(params, "update"))
        if "id" not in said:
            return
        handler = {
            "session/request_permission": self._permit,
            "fs/read_text_file": self._read_file,
            "fs/write_text_file": self._write_file,
        }.get(method)
        try:
            if handler is None:
                self.send(id=said["id"], error={"code": NOT_FOUND, "message": f"{method} is not offered"})
            else:
                self.send(id=said["id"], result=handler(params))
        except (OSError, ValueError) as error:
            self.send(id=said["id"], error={"code": AUTH_REQUIRED - 1, "message": str(error)})

    def _read_update(self, update: object) -> None:
        kind = get(update, "sessionUpdate")
        if kind == "agent_message_chunk":
            text = get(update, "content", "text")
            self.message += text if isinstance(text, str) else ""
        elif kind in {"tool_call", "tool_call_update"}:
            self.message = ""
            title = get(update, "title")
            if isinstance(title, str) and get(update, "status") in {"completed", "failed"}:
                verb = {"execute": "$", "edit": "edit", "read": "read", "search": "search"}.get(get(update, "kind"), "")
                emit(type="activity", text=f"{verb} {title}".strip())
        elif kind == "usage_update":
            cost = get(update, "cost", "amount")
            self.cost = float(cost) if isinstance(cost, int | float) else self.cost

    def _permit(self, params: object) -> dict[str, object]:
        options = get(params, "options")
        kinds = {get(option, "kind"): get(option, "optionId") for option in options or []}
        wanted = [f"{self._answer}_{often}" for often in ("always", "once")]
        chosen = next((kinds[kind] for kind in wanted if kind in kinds), None)
        if self._answer == "reject":
            emit(type="activity", text=f"denied: {get(params, 'toolCall', 'title') or 'a tool'}")
        return {"outcome": {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}}

    def _read_file(self, params: object) -> dict[str, object]:
        return {"content": self._find(params).read_text(encoding="utf-8")}

    def _write_file(self, params: object) -> None:
        path = self._find(params)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(get(params, "content") or ""), encoding="utf-8")

    def _find(self, params: object) -> Path:
        path = Path(str(get(params, "path"))).resolve()
        if not path.is_relative_to(self._root):
            message = f"{path} is outside the workspace"
            raise ValueError(message)
        return path


def judge(error: object) -> str:
    """The outcome that an error stands for."""
    status = get(error, "data", "codex_error_info", "response_too_many_failed_attempts", "http_status_code")
    status = status or get(error, "code")
    if get(error, "data", "errorKind") in KINDS:
        return KINDS[get(error, "data", "errorKind")]
    if status in {AUTH_REQUIRED, 401, 402, 403} or get(error, "data", "errorName") == "ProviderAuthError":
        return "auth_failed"
    if status == TOO_MANY:
        return "limited"
    is_passing = isinstance(status, int) and (status in {408, 409, 425} or 500 <= status < 600)  # noqa: PLR2004  (HTTP)
    return "unavailable" if is_passing else "crashed"


def count(result: object) -> dict[str, object]:
    """The tokens of the turn, as far as the agent tells them."""
    usage, quota = get(result, "usage"), get(result, "_meta", "quota", "token_count")
    pairs = {
        "input_tokens": get(usage, "inputTokens") or get(quota, "input_tokens"),
        "output_tokens": get(usage, "outputTokens") or get(quota, "output_tokens"),
        "cache_read_tokens": get(usage, "cachedReadTokens"),
        "cache_write_tokens": get(usage, "cachedWriteTokens"),
    }
    return {name: value for name, value in pairs.items() if isinstance(value, int)}


def converse(session: Session, prompt: str) -> None:
    """Have the session, and say how it went."""
    cwd = str(Path.cwd())
    try:
        session.ask("initialize", protocolVersion=VERSION, clientCapabilities={})
        session.id = str(get(session.ask("session/new", cwd=cwd, mcpServers=[]), "sessionId") or "")
        emit(type="start", session=session.id)
        text = {"type": "text", "text": prompt}
        result = session.ask("session/prompt", sessionId=session.id, prompt=[text])
    except Failed as failed:
        error = failed.args[0]
        details = get(error, "data", "details") or get(error, "data", "message")
        told = [text for text in (get(error, "message"), details) if isinstance(text, str) and text]
        reason = ": ".join(told) or "it failed"
        emit(type="result", outcome=judge(error), reason=reason, session=session.id, message=session.message)
        return
    stop = str(get(result, "stopReason"))
    ending: dict[str, object] = {"outcome": STOPS[stop], "reason": f"it stopped: {stop}"} if stop in STOPS else {}
    cost = {} if session.cost is None else {"cost_usd": session.cost}
    emit(type="result", session=session.id, message=session.message, usage=count(result), **cost, **ending)


def let_go(agent: subprocess.Popen[bytes]) -> None:
    """End an agent that has nothing to do any more; some do not listen to TERM, some not to the end of their input."""
    if agent.stdin is not None:
        agent.stdin.close()
    for push in (agent.terminate, agent.kill):
        try:
            agent.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            push()
    agent.wait()


def main(answer: str, command: list[str]) -> int:
    """Do one session; 0 when there is a result, whatever it says."""
    prompt = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  (the user's own choice)
    session = Session(agent, answer, Path.cwd().resolve())

    def end(number: int, _frame: object) -> None:
        # The agent ends its tools when it is told; whoever does not listen is ended by the supervisor.
        if session.id:
            session.send(method="session/cancel", params={"sessionId": session.id})
        agent.terminate()
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        converse(session, prompt)
    except (EOFError, OSError):
        return agent.wait() or 1
    let_go(agent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
