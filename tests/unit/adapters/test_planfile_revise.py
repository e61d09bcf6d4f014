from __future__ import annotations

import json

import pytest

from whilly.adapters.planfile.revise import compose, revise
from whilly.domain.errors import RuleViolation
from whilly.domain.ids import ItemId

A = ItemId("A")


def test_only_the_named_fields_change() -> None:
    before = (
        '\ufeff{"x": 1.10,\r\n "tasks":[ {"own" : [1,2], "status"  :\t"done" , "id":"A", "key_files": [ ]},\n'
        '  {"id":"B","description":"\\u043f"}]}\n\n'
    )
    after = revise(before.encode(), {A: {"key_files": ["src/ф"]}}).decode()
    assert after == before.replace("[ ]", '["src/ф"]')


def test_what_is_absent_is_added_behind_the_last_key() -> None:
    before = '{"tasks": [\n  {\n    "id": "A",\n    "n": 1\n  }\n]}'
    after = revise(before.encode(), {A: {"n": 2, "key_files": ["a"], "status": "skipped"}}).decode()
    added = ',\n    "key_files": [\n      "a"\n    ],\n    "status": "skipped"'
    assert after == '{"tasks": [\n  {\n    "id": "A",\n    "n": 2' + added + "\n  }\n]}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"tasks": [{"id": "A"}]}', '{"tasks": [{"id": "A"},{"id": "B"}]}'),
        ('{"tasks": [ {"id": "A"} ]}', '{"tasks": [ {"id": "A"}, {"id": "B"} ]}'),
        (
            '{\r\n  "tasks": [\r\n    {"id": "A"}\r\n  ]\r\n}',
            '{\r\n  "tasks": [\r\n    {"id": "A"},\r\n    {\r\n      "id": "B"\r\n    }\r\n  ]\r\n}',
        ),
        ('{\n  "tasks": []\n}', '{\n  "tasks": [\n    {\n      "id": "B"\n    }\n  ]\n}'),
        ('{"tasks": []}', '{"tasks": [{"id": "B"}]}'),
    ],
)
def test_tasks_are_appended_in_the_style_of_the_file(before: str, after: str) -> None:
    assert revise(before.encode(), {}, [{"id": "B"}]).decode() == after


def test_nothing_to_change_changes_nothing() -> None:
    before = b'{"tasks" :[{"id" :"A"}]}'
    assert revise(before, {}) == before


@pytest.mark.parametrize("broken", [b"{", b"[]", b"{}", b'{"tasks": 1}'])
def test_what_is_no_plan_is_refused(broken: bytes) -> None:
    with pytest.raises(RuleViolation, match="cannot be changed"):
        revise(broken, {A: {"status": "done"}})


def test_a_new_file_has_its_head_before_its_tasks() -> None:
    made = json.loads(compose({"project": "п"}, [{"id": "A"}]))
    assert list(made.items()) == [("project", "п"), ("tasks", [{"id": "A"}])]
