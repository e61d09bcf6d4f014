"""The model servers start, say what they are to say, and are surely gone afterwards."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from whilly.domain.errors import Unavailable
from whilly.testing.models.canned import SILENCE, STALL, Answer, CannedServer, limit_usage
from whilly.testing.models.script import Script, say
from whilly.testing.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def post(url: str, limit: float = 10) -> bytes:
    request = urllib.request.Request(url, data=b"{}", method="POST")  # noqa: S310  (our own loopback server)
    with urllib.request.urlopen(request, timeout=limit) as answer:  # noqa: S310  (the same)
        body: bytes = answer.read()
        return body


def is_open(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


def test_a_canned_answer_is_the_same_for_every_request() -> None:
    with CannedServer(Answer(body='{"ok": 1}')) as server:
        assert [post(f"{server.url}/a"), post(f"{server.url}/b")] == [b'{"ok": 1}'] * 2
        assert server.requests == ["POST /a", "POST /b"]
    assert not is_open(server.url)


def test_a_usage_limit_is_in_the_headers() -> None:
    with (
        CannedServer(limit_usage(datetime(2040, 1, 1, tzinfo=UTC), "seven_day")) as server,
        pytest.raises(urllib.error.HTTPError) as caught,
    ):
        post(server.url)
    with caught.value as error:
        assert error.code == 429
        assert error.headers["anthropic-ratelimit-unified-7d-reset"] == "2208988800"


@pytest.mark.parametrize("answer", [SILENCE, STALL])
def test_a_dead_connection_says_no_more_and_keeps_nobody_waiting_at_the_end(answer: Answer) -> None:
    with CannedServer(answer) as server, pytest.raises(TimeoutError):
        post(server.url, limit=0.3)
    assert not is_open(server.url)


def test_a_model_that_cannot_start_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "cli.py"
    broken.write_text("raise SystemExit('no such fixture')\n")
    # Python does not know the option --import, so it ends at once and complains.
    with pytest.raises(Unavailable, match="did not start"), ScriptedModel(str(broken), node=sys.executable):
        pass


def test_a_scripted_model_ends_with_its_block(scripted_model: Callable[..., ScriptedModel]) -> None:
    with scripted_model(Script("", then=say("hi"))) as model:
        assert is_open(model.url)
        assert model.requests() == []
    assert not is_open(model.url)


def test_a_scripted_model_ends_when_its_test_is_killed(
    scripted_model: Callable[..., ScriptedModel], test_environment: Mapping[str, str], tmp_path: Path
) -> None:
    node, _, _, cli, *_ = scripted_model()._argv
    program = (
        "import os; from whilly.testing.models.scripted import ScriptedModel\n"
        f"print(ScriptedModel({cli!r}, node={node!r}).__enter__().url, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    env = {**test_environment, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == -9
    url = done.stdout.strip()
    deadline = time.monotonic() + 10
    while is_open(url) and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    assert not is_open(url)


def test_requests_are_told(scripted_model: Callable[..., ScriptedModel]) -> None:
    with scripted_model(Script("", then=say("hi"))) as model:
        message = {"role": "user", "content": "hello"}
        body = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [message]}).encode()
        headers = {"content-type": "application/json", "x-api-key": "k"}
        request = urllib.request.Request(f"{model.url}/v1/messages", data=body, headers=headers)  # noqa: S310  (loopback)
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  (the same)
            assert json.load(answer)["content"][0]["text"] == "hi"
        assert [each["path"] for each in model.requests()] == ["/v1/messages"]
