"""An agent that prints its environment: no secret of it is shown or stored."""

from __future__ import annotations

import base64
import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

if TYPE_CHECKING:
    from whilly.testing.workshop import Workshop

TOKEN = "correct-horse-battery-staple"  # noqa: S105  (made up)


def test_what_an_agent_and_a_check_print_has_no_secrets_anywhere_that_people_look(shop: Workshop) -> None:
    shop.settings('[agent]\nenv_pass = ["MY_TOKEN"]\n[profile]\nenv_pass = ["MY_TOKEN"]\n[run]\nmax_attempts = 1\n')
    leak = "$ echo A > A.txt; echo $MY_TOKEN; printf %s $MY_TOKEN | base64; echo https://u:$MY_TOKEN@host/; exit 3"
    shop.plan(
        {"id": "A", "description": leak},
        {"id": "B", "test_steps": ["echo check $MY_TOKEN; false"]},
    )
    ended = shop.run("run", MY_TOKEN=TOKEN)
    assert ended.statuses == {"A": "failed", "B": "failed"}
    shown = [ended.out, ended.err]
    for words in (
        ("logs", "A"),
        ("logs", "A", "--raw"),
        ("logs", "B"),
        ("why", "B"),
        ("timeline", "B", "--json"),
        ("report",),
        ("report", "--format", "json"),
    ):
        told = shop.run(*words, MY_TOKEN=TOKEN)
        assert told.code == 0, (words, told.err)
        shown.append(told.out)
    assert "check <redacted>" in shown[4]
    coded = base64.b64encode(TOKEN.encode()).decode()[:-3]
    assert [text for text in shown if TOKEN in text or coded in text] == []
    ledger = (shop.repository.root / ".whilly" / "whilly.db").read_bytes()
    wal = shop.repository.root / ".whilly" / "whilly.db-wal"
    ledger += wal.read_bytes() if wal.exists() else b""
    assert TOKEN.encode() not in ledger
