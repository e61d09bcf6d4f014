from __future__ import annotations

from whilly.testing.models.script import Script, bash, edit, fail, hang, read, render_fixtures, say, write


def usage(read: int, said: int) -> dict[str, int]:
    chat = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
    google = {"promptTokenCount": read, "candidatesTokenCount": said, "totalTokenCount": read + said}
    return {"input_tokens": read, "output_tokens": said, **chat, **google}


USAGE = usage(1000, 50)


def test_turns_are_numbered_and_routed() -> None:
    scripts = (Script("A", (write("a", "b"), say("done", output_tokens=7))), Script("", (bash("ls"),), start=2))
    assert render_fixtures(scripts)["fixtures"] == [
        {
            "match": {"userMessage": "A", "turnIndex": 0},
            "response": {
                "toolCalls": [{"name": "Write", "arguments": {"file_path": "a", "content": "b"}}],
                "usage": USAGE,
            },
        },
        {
            "match": {"userMessage": "A", "turnIndex": 1},
            "response": {"content": "done", "usage": usage(1000, 7)},
        },
        {
            "match": {"turnIndex": 2},
            "response": {
                "toolCalls": [{"name": "Bash", "arguments": {"command": "ls", "description": "scripted"}}],
                "usage": USAGE,
            },
        },
    ]


def test_a_passing_failure_comes_first_and_a_standing_answer_last() -> None:
    script = Script("A", (read("a"),), then=hang(), once=fail(429, "rate_limit_error", "slow", 3))
    first, turn, last = render_fixtures((script,))["fixtures"]
    assert first["match"] == {"userMessage": "A", "sequenceIndex": 0}
    assert first["response"] == {
        "error": {"message": "slow", "type": "rate_limit_error"},
        "status": 429,
        "retryAfter": 3,
    }
    assert turn["match"] == {"userMessage": "A", "turnIndex": 0}
    assert last["match"] == {"userMessage": "A"}
    assert last["streamingProfile"]["ttft"] == 600_000


def test_an_edit_is_claude_codes() -> None:
    [call] = edit("a", "b", "c").response["toolCalls"]
    assert call["arguments"] == {"file_path": "a", "old_string": "b", "new_string": "c"}
