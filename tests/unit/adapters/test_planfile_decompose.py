"""A large item is taken apart only into what is a good plan, within its bounds."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whilly.adapters.planfile.decompose import Bounds, Decomposed, PlanDivider, decompose, render_problems
from whilly.domain.ids import ItemId
from whilly.domain.planning.parts import is_large
from whilly.domain.work_item import Priority, WorkItem
from whilly.testing.contracts.delivery.divider import DividerContract

if TYPE_CHECKING:
    from whilly.ports.delivery.divider import Divider

ITEM = WorkItem(
    ItemId("GH-12"),
    "Totals and their page",
    priority=Priority.HIGH,
    phase="1",
    category="feature",
    dependencies=(ItemId("GH-3"),),
    key_files=("src", "tests/test_totals.py"),
    acceptance_criteria=("Totals are exact.", "The page shows them"),
    test_steps=("make test",),
    agent="claude",
)


def task(name: str, *after: str, **others: object) -> dict[str, Any]:
    return {
        "id": name,
        "description": f"part {name}",
        "dependencies": list(after),
        "key_files": ["src/a.py"],
        "acceptance_criteria": ["it works"],
        **others,
    }


FIRST = task("1", acceptance_criteria=["totals are  exact"])
SECOND = task("2", "1", acceptance_criteria=["The page shows them"], test_steps=["make test", "rm -rf /"])


def propose(*tasks: object, bounds: Bounds = Bounds(), item: WorkItem = ITEM) -> Decomposed:  # noqa: B008  (a value)
    return decompose(item, json.dumps({"tasks": tasks}), bounds)


def errors(made: Decomposed) -> list[str]:
    return [each.what for each in made.problems if each.is_error]


class TestDivider(DividerContract):
    @pytest.fixture
    def divider(self) -> Divider:
        return PlanDivider(Bounds(max_tasks=3, max_cost_usd=Decimal(5)))


def test_parts_are_wired() -> None:
    made = propose(FIRST, SECOND)
    first, second = made.items
    assert (first.id, first.dependencies) == ("GH-12a", ("GH-3",))
    assert (second.id, second.dependencies) == ("GH-12b", ("GH-12a",))
    assert (first.test_steps, second.test_steps) == ((), ("make test",))
    assert {(each.priority, each.phase, each.category, each.agent) for each in made.items} == {
        (Priority.HIGH, "1", "feature", "claude")
    }


def test_what_an_agent_proposes_is_not_run() -> None:
    made = propose(FIRST, SECOND)
    assert [each.what for each in made.problems] == ["the test step `rm -rf /` is left out"]
    assert "rm -rf /" in propose(FIRST, SECOND, bounds=Bounds(commands={"rm -rf /"})).items[1].test_steps


def test_a_block_of_code_is_read_as_well() -> None:
    assert decompose(ITEM, f"```json\n{json.dumps({'tasks': [FIRST, SECOND]})}\n```", Bounds()).items


@pytest.mark.parametrize(
    ("tasks", "bounds", "error"),
    [
        ([FIRST], Bounds(), "1 tasks"),
        ([FIRST, SECOND, task("3"), task("4"), task("5"), task("6")], Bounds(), "6 tasks"),
        ([FIRST, SECOND], Bounds(depth=3), "GH-12 may not be taken apart again"),
        ([FIRST, task("2", "1")], Bounds(), "the criterion “The page shows them” of GH-12 is in none of the tasks"),
        ([FIRST, SECOND | {"key_files": ["docs/a.md"]}], Bounds(), "`docs/a.md` in key_files of task 2 is outside"),
        ([FIRST, SECOND | {"key_files": []}], Bounds(), "task 2 names no files"),
        ([FIRST, SECOND, task("3", acceptance_criteria=[])], Bounds(), "task 3 has no criterion"),
        ([FIRST, SECOND], Bounds(max_cost_usd=Decimal(1)), "task 1 has no estimated_cost_usd"),
        (
            [FIRST | {"estimated_cost_usd": 0.6}, SECOND | {"estimated_cost_usd": 0.6}],
            Bounds(max_cost_usd=Decimal(1)),
            "the tasks are estimated at $1.2",
        ),
        ([FIRST, SECOND | {"dependencies": ["GH-3"]}], Bounds(), "task 2 depends on `GH-3`, which is not in the plan"),
        ([FIRST | {"dependencies": ["2"]}, SECOND], Bounds(), "a cycle of dependencies: 1 → 2 → 1"),
        ([FIRST, FIRST], Bounds(), "the id 1 occurs twice"),
    ],
)
def test_what_is_wrong_is_told(tasks: list[object], bounds: Bounds, error: str) -> None:
    made = propose(*tasks, bounds=bounds)
    assert made.items == ()
    assert any(each.startswith(error) for each in errors(made)), errors(made)


def test_everything_is_told_at_once() -> None:
    made = propose(task("1", key_files=[]), bounds=Bounds(depth=3))
    assert len(errors(made)) == 5
    assert render_problems(made.problems).count("\n- decomposition.json: error: ") == 4


@pytest.mark.parametrize(
    "text", ["", "no", "[]", "{}", '{"tasks": 1}', '{"tasks": []}', "```json\n```", '{"tasks": [{}]}']
)
def test_what_is_no_proposal_is_refused(text: str) -> None:
    made = decompose(ITEM, text, Bounds())
    assert (made.items, bool(errors(made))) == ((), True)


def test_estimates_within_the_limit_are_taken() -> None:
    tasks = [each | {"estimated_cost_usd": 0.5} for each in (FIRST, SECOND)]
    assert propose(*tasks, bounds=Bounds(max_cost_usd=Decimal(1))).items


def test_large_is_what_has_many_criteria_or_files() -> None:
    assert not is_large(ITEM)
    assert is_large(WorkItem(ItemId("x"), "x", acceptance_criteria=("c",) * 6))
    assert is_large(WorkItem(ItemId("x"), "x", key_files=("f",) * 12))


NAMES = st.sampled_from(["1", "2", "3", "GH-3"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.fixed_dictionaries(
            {"id": NAMES},
            optional={
                "description": st.just("x"),
                "dependencies": st.lists(NAMES, max_size=2),
                "key_files": st.lists(st.sampled_from(["src/a.py", "docs", "../x"]), max_size=2),
                "acceptance_criteria": st.lists(
                    st.sampled_from(["Totals are exact", "The page shows them"]), max_size=2
                ),
                "estimated_cost_usd": st.sampled_from([0.1, 5, -1, "1", None, True]),
            },
        ),
        max_size=7,
    )
)
def test_what_comes_out_is_in_bounds(tasks: list[dict[str, Any]]) -> None:
    bounds = Bounds(max_tasks=4, max_cost_usd=Decimal(1))
    made = propose(*tasks, bounds=bounds)
    assert bool(made.items) is not bool(errors(made))
    done: set[str] = {"GH-3"}
    left = list(made.items)
    while ready := [each for each in left if set(each.dependencies) <= done]:
        done |= {each.id for each in ready}
        left = [each for each in left if each not in ready]
    assert (left, len(made.items) <= 4) == ([], True)
