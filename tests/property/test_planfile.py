from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from whilly.adapters.planfile import export, parse
from whilly.adapters.planfile.document import Document, Fault, Node, read
from whilly.domain.ids import ItemId
from whilly.domain.work_item import ItemStatus

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
IDS = st.sampled_from(["A", "B", "C", "GH-1", "é"])
TASKS = st.fixed_dictionaries(
    {"id": IDS},
    optional={
        "status": st.sampled_from([*ItemStatus, "odd"]) | st.none(),
        "description": TEXTS,
        "dependencies": st.lists(IDS, max_size=3) | VALUES,
        "key_files": st.lists(TEXTS, max_size=3) | VALUES,
        "priority": st.sampled_from(["high", "HIGH", "x"]) | VALUES,
        "extra": VALUES,
    },
)
PLANS = st.fixed_dictionaries(
    {"tasks": st.lists(TASKS | VALUES, max_size=5)}, optional={"project": VALUES, "é": VALUES}
)
LAYOUTS: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict[str, Any],
    indent=st.sampled_from([None, 0, 2, "\t"]),
    ensure_ascii=st.booleans(),
    separators=st.sampled_from([None, (",", ":"), (" , ", " : ")]),
)
STATUSES = st.dictionaries(IDS.map(ItemId), st.sampled_from(ItemStatus), max_size=5)


def plain(node: Node) -> object:
    match node.value:
        case dict() as members:
            return {key: plain(member.node) for key, member in members.items()}
        case list() as entries:
            return [plain(entry) for entry in entries]
        case scalar:
            return scalar


@given(VALUES, LAYOUTS)
def test_values_are_those_of_the_standard_decoder_at_their_place(value: object, layout: dict[str, Any]) -> None:
    document = read(json.dumps(value, **layout).encode())
    assert isinstance(document, Document)
    assert plain(document.root) == value
    nodes = [document.root]
    while nodes:
        node = nodes.pop()
        assert json.loads(document.text[node.start : node.end]) == plain(node)
        if isinstance(node.value, dict):
            for key, member in node.value.items():
                assert json.loads(document.text[member.key_start : member.key_end]) == key
                nodes.append(member.node)
        elif isinstance(node.value, list):
            nodes += node.value


@given(PLANS, LAYOUTS, st.data())
def test_a_cut_plan_is_a_fault_and_any_bytes_are_answered(
    plan: dict[str, Any], layout: dict[str, Any], data: st.DataObject
) -> None:
    whole = json.dumps(plan, **layout).encode()
    cut = whole[: data.draw(st.integers(min_value=0, max_value=len(whole) - 1))]
    assert isinstance(read(cut), Fault)
    noise = bytearray(whole)
    noise[data.draw(st.integers(min_value=0, max_value=len(whole) - 1))] = data.draw(st.integers(0, 255))
    result = parse(bytes(noise), Path("/r/tasks.json"), Path("/r"))
    assert (result.plan is None) == any(problem.is_error for problem in result.problems)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    assert parse(data, Path("/r/tasks.json"), Path("/r")).plan is None


@given(PLANS, LAYOUTS)
def test_an_export_without_news_is_the_same_file(plan: dict[str, Any], layout: dict[str, Any]) -> None:
    original = json.dumps(plan, **layout).encode()
    assert export(original, {}) == original


@given(PLANS, LAYOUTS, STATUSES)
def test_an_export_changes_statuses_and_nothing_else(
    plan: dict[str, Any],
    layout: dict[str, Any],
    statuses: dict[ItemId, ItemStatus],
) -> None:
    original = json.dumps(plan, **layout).encode()
    for task in plan["tasks"]:
        if isinstance(task, dict) and isinstance(task.get("id"), str) and task["id"] in statuses:
            task["status"] = statuses[ItemId(task["id"])]
    exported = export(original, statuses)
    assert json.loads(exported) == plan
    assert export(exported, statuses) == exported
