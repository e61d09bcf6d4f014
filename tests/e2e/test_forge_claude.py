"""A real bug in a small repository, from the issue to an approved pull request, by the real Claude Code, contained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.hub import BOT, WRITER
from whilly.testing.forges.village import Village
from whilly.testing.models.script import Script, bash, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from whilly.testing.models.scripted import ScriptedModel

KEY = "sk-ant-real-key-of-the-host"
SETTINGS = """
[agent]
name = "claude"
model = "claude-sonnet-4-5"
[agents.claude]
program = "{program}"
[profile]
verify = ["python3 -m unittest --quiet"]
"""
SHOP = """\
def total(prices, discount=0.0):
    return sum(prices) * (1 - discount) / len(prices)
"""
TESTS = """\
import unittest
from shop import total


class TotalTest(unittest.TestCase):
    def test_one(self):
        self.assertEqual(total([3]), 3)
"""
ISSUE = """\
`total([1, 2])` in `shop.py` returns 1.5. It has to be the sum of the prices.

## Steps to reproduce
1. `python3 -c "from shop import total; print(total([1, 2]))"`

## Expected
3

## Actual
1.5

## Acceptance
- `total([1, 2])` is 3
- `total([])` is 0

**Files:** `shop.py`, `test_shop.py`
"""
DONE = say("Done.\n\n<promise>COMPLETE</promise>")
MORE = "\n    def test_{name}(self):\n        self.assertEqual(total({prices}), {total})\n"


def change(body: str, *tests: str) -> str:
    """A command of the agent: the function's body anew, and more tests."""
    text = f"def total(prices, discount=0.0):\n    {body}\n"
    return f"cat > shop.py <<'END'\n{text}END\ncat >> test_shop.py <<'END'\n{''.join(tests)}END"


SCRIPTS = (
    Script("CI is red", (bash(change("return round(sum(prices) * (1 - discount), 2)")), DONE)),
    Script("## People ask for changes", (bash('sed -i \'1a\\    """What a cart costs."""\' shop.py'), DONE)),
    Script("## A check fails", (bash(change("return sum(prices) * (1 - discount)")), DONE)),
    Script(
        "# Task ada/engine#1",
        (
            bash(
                change(
                    "return sum(prices) * (1 - discount) / max(len(prices) - 1, 1)",
                    MORE.format(name="two", prices="[1, 2]", total=3),
                    MORE.format(name="three", prices="[1, 2, 3]", total=6),
                )
            ),
            DONE,
        ),
    ),
)


@pytest.fixture(params=[GithubServer, GiteaServer], ids=["github", "gitea"])
def village(
    tmp_path: Path,
    test_environment: Mapping[str, str],
    claude_program: str,
    bubblewrap: str,
    request: pytest.FixtureRequest,
) -> Iterator[Village]:
    assert bubblewrap
    settings = SETTINGS.format(program=claude_program)
    with Village.make(tmp_path, test_environment["PATH"], request.param, settings) as made:
        made.hub.repo.git.push("main", {"shop.py": SHOP, "test_shop.py": TESTS})
        made.pull_base()
        yield made


def test_a_bug_is_mended_ci_and_a_reviewer_are_answered(
    village: Village, scripted_model: Callable[..., ScriptedModel]
) -> None:
    issue = village.file("total() divides by the number of prices", ISSUE)
    with scripted_model(*SCRIPTS) as model:
        village.environ = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        ended = village.forge(issue)
        assert ended.code == 0, ended.out + ended.err
        ticket, pull = village.pull
        assert (ticket.author.login, pull.head) == (BOT, "whilly/issue-1-total-divides-by-the-number-of-prices")
        assert "Closes #1" in ticket.body
        assert "python3 -m unittest" in ticket.body
        assert "fails on base, passes here: test_three (test_shop.TotalTest" in ticket.body
        assert "return sum(prices) * (1 - discount)\n" in village.files()["shop.py"] + "\n"

        log = "FAIL: test_cents\nAssertionError: 0.30000000000000004 != 0.3\n"
        village.hub.add_check(village.hub.repo, village.head(), "test", "failed", log)
        assert village.forge(issue).code == 0
        assert "round(" in village.files()["shop.py"]

        village.hub.add_check(village.hub.repo, village.head(), "test", "passed")
        writer = village.hub.users[WRITER]
        village.hub.add_remark(pull, writer, "shop.py", 1, "Say what it is", commit=village.head())
        assert village.forge(issue).code == 0
        assert "What a cart costs." in village.files()["shop.py"]
        answers = [remark.body for remark in pull.remarks if remark.author.login == BOT]
        assert [f"Changed in {village.head()}." in answer for answer in answers] == [True]

    told = json.loads(village.start("timeline", "ada/engine#1", "--json").wait().out)
    seen = [event["milestone"] for event in told["events"] if "milestone" in event]
    steps = "issue_ingested task_normalized readiness_checked challenged strategy_selected pr_created feedback_received"
    for name in (*steps.split(), "verification_failed", "repair_finished", "verification_passed"):
        assert name in seen, seen
    assert sum(event.get("cost_usd", 0) for event in told["events"]) == pytest.approx(8 * 0.00375)
    leaks = [path for path in village.shop.repository.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [str(path) for path in leaks if KEY.encode() in path.read_bytes()] == []
    token = village.hub.bot_token.encode()
    assert [str(path) for path in leaks if token in path.read_bytes()] == []


FEATURE = """\
Carts need two more functions, each in a module of its own.

**Files:** `tax.py`, `test_tax.py`, `ship.py`, `test_ship.py`

## Acceptance
- `tax.tax(100)` is 20
- `ship.cost(0)` is 5
"""


def part(name: str, call: str, criterion: str) -> dict[str, object]:
    """A task of the agent's proposal."""
    return {
        "id": name,
        "description": f"Write the function `{call}` with its test",
        "dependencies": [],
        "key_files": [f"{name}.py", f"test_{name}.py"],
        "acceptance_criteria": [criterion],
        "test_steps": [],
    }


def module(name: str, body: str, test: str) -> str:
    """A command of the agent: a module and its test."""
    case = f"import unittest\nimport {name}\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        {test}\n"
    return f"cat > {name}.py <<'END'\n{body}\nEND\ncat > test_{name}.py <<'END'\n{case}END"


PROPOSAL = {
    "problem": "There is no tax and no shipping.",
    "modules": ["tax", "ship"],
    "files": ["tax.py", "ship.py"],
    "validation": ["python3 -m unittest"],
    "risks": ["the rate may change"],
    "stop_conditions": [],
    "tasks": [
        part("tax", "tax.tax", "`tax.tax(100)` is 20"),
        part("ship", "ship.cost", "`ship.cost(0)` is 5"),
    ],
}


@pytest.mark.parametrize("village", [GithubServer], ids=["github"], indirect=True)
def test_a_feature_is_planned_divided_and_done_in_parts(
    village: Village, scripted_model: Callable[..., ScriptedModel]
) -> None:
    tax = module("tax", "def tax(price):\n    return price * 0.2", "self.assertEqual(tax.tax(100), 20)")
    ship = module("ship", "def cost(weight):\n    return 5 + weight", "self.assertEqual(ship.cost(0), 5)")
    scripts = (
        Script("## What is asked of you", (bash("touch planned.py"), say(json.dumps(PROPOSAL)))),
        Script("# Task ada/engine#1a", (bash(tax), DONE)),
        Script("# Task ada/engine#1b", (bash(ship), DONE)),
    )
    issue = village.file("Add tax and shipping", FEATURE)
    with scripted_model(*scripts) as model:
        village.environ = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert {"tax.py", "test_tax.py", "ship.py", "test_ship.py", "shop.py"} <= set(village.files())
    assert "planned.py" not in village.files()
    told = json.loads(village.start("timeline", "ada/engine#1", "--json").wait().out)
    assert sum(event.get("cost_usd", 0) for event in told["events"]) == pytest.approx(6 * 0.00375)
    assert not list(village.shop.repository.root.glob(".whilly/contained/runs/*-asked*"))
