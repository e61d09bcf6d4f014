from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from whilly.bootstrap import open_project
from whilly.domain.session import Exit, Prior
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from pathlib import Path

TURN = (
    b'{"type": "turn.completed", "usage": {"input_tokens": 3000000, "cached_input_tokens": 1000000,'
    b' "cache_write_input_tokens": 1000000, "output_tokens": 1000000}}'
)


@pytest.mark.parametrize(
    ("rates", "cost"),
    [
        ("input = 1, output = 10", 13),
        ("input = 2, output = 10", 16),
        ("input = 1, output = 20", 23),
        ("input = 1, output = 10, cache_read = 0.5", "12.5"),
        ("input = 1, output = 10, cache_write = 3", 15),
    ],
)
def test_a_rate_of_the_users_is_what_a_session_costs(tmp_path: Path, rates: str, cost: str) -> None:
    scratch = ScratchRepository.make(tmp_path)
    (scratch.root / "whilly.toml").write_text(f'[prices]\n"new-model.5" = {{{rates}}}\n', encoding="utf-8")
    reader = open_project(scratch.root).make_agent("codex").reader(Prior(model="new-model.5"))
    reader.feed(TURN)
    usage = reader.report(Exit(0)).usage
    assert usage is not None
    assert usage.cost_usd == Decimal(cost)
