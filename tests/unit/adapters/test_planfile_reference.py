"""The reference page says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from whilly.adapters.planfile import parse
from whilly.adapters.planfile.parse import KNOWN_KEYS as PLAN_KEYS
from whilly.adapters.planfile.parse import MOMENTS
from whilly.adapters.planfile.tasks import KNOWN_KEYS as TASK_KEYS
from whilly.domain.work_item import ItemStatus, Priority

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "plan-file.md"


def test_the_example_of_the_page_is_a_plan_without_problems() -> None:
    [example] = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    result = parse(example.encode(), Path("/repo/tasks.json"), Path("/repo"))
    assert result.problems == ()
    assert result.plan is not None


def test_every_key_and_word_is_on_the_page() -> None:
    words = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    assert {*PLAN_KEYS, *TASK_KEYS, *MOMENTS, *ItemStatus, *Priority} <= words
