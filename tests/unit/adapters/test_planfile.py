from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.planfile import Parsed, Problem, Severity, load, parse
from whilly.domain.ids import ItemId
from whilly.domain.work_item import ItemStatus, Priority

if TYPE_CHECKING:
    from whilly.domain.plan import Plan

REPOSITORY = Path("/repo")
PLAN = REPOSITORY / "tasks.json"


def parsed(text: str | bytes) -> Parsed:
    return parse(text if isinstance(text, bytes) else text.encode(), PLAN, REPOSITORY)


def of(*tasks: dict[str, Any] | str, **top: Any) -> Parsed:  # noqa: ANN401  (any JSON)
    return parsed(json.dumps({**top, "tasks": list(tasks)}))


def task(item_id: str = "A", **fields: Any) -> dict[str, Any]:  # noqa: ANN401  (any JSON)
    return {"id": item_id, "description": "Do it", **fields}


def plan_of(result: Parsed) -> Plan:
    assert result.plan is not None, [str(problem) for problem in result.problems]
    return result.plan


def errors(result: Parsed) -> list[str]:
    assert result.plan is None
    return [problem.what for problem in result.problems if problem.is_error]


def only(result: Parsed) -> Problem:
    [problem] = result.problems
    return problem


def test_a_plan_of_the_predecessor_runs_unchanged() -> None:
    plan = plan_of(
        of(
            {
                "id": "GH-12",
                "phase": "Phase 1",
                "category": "github-issue",
                "priority": "critical",
                "description": "Fix the login\n\nDetails.",
                "status": "in_progress",
                "dependencies": [],
                "key_files": ["./src/login.py", "src/login.py", "docs\\"],
                "acceptance_criteria": ["it works"],
                "test_steps": ["pytest -q tests/test_login.py"],
                "prd_requirement": "https://example.com/issues/12",
                "github_issue": 12,
                "github_url": "https://example.com/issues/12",
            },
            {
                "id": "gh-12-some-title/with:odd$chars",
                "phase": "Phase 2",
                "category": "docs",
                "priority": "low",
                "description": "Документация",
                "status": "pending",
                "dependencies": ["GH-12", "JIRA-ABC-1"],
            },
            {
                "id": "JIRA-ABC-1",
                "phase": "1",
                "category": "x",
                "priority": "high",
                "description": "d",
                "status": "done",
                "jira_key": "ABC-1",
                "jira_url": "https://example.com/ABC-1",
            },
            project="prd-Личный кабинет tasks",
            prd_file="docs/PRD.md",
            created_at="2026-01-01",
            agent_instructions={"before_start": ["read"], "during_work": ["commit"], "before_finish": ["test"]},
            source={"kind": "github"},
            total_tasks=3,
        )
    )
    assert [item.id for item in plan.items] == ["GH-12", "gh-12-some-title/with:odd$chars", "JIRA-ABC-1"]
    first = plan.items[0]
    assert (first.priority, first.phase, first.category) == (Priority.CRITICAL, "Phase 1", "github-issue")
    assert first.key_files == ("src/login.py", "docs")
    assert first.acceptance_criteria == ("it works",)
    assert first.test_steps == ("pytest -q tests/test_login.py",)
    assert first.prd_requirement == "https://example.com/issues/12"
    assert first.title == "Fix the login"
    assert plan.items[1].dependencies == ("GH-12", "JIRA-ABC-1")
    assert dict(plan.statuses) == {
        "GH-12": ItemStatus.IN_PROGRESS,
        "gh-12-some-title/with:odd$chars": ItemStatus.PENDING,
        "JIRA-ABC-1": ItemStatus.DONE,
    }
    assert plan.instructions == {"before_start": ("read",), "during_work": ("commit",), "before_finish": ("test",)}
    assert (plan.name, plan.slug, plan.source) == ("prd-Личный кабинет tasks", "lichnyy-kabinet", str(PLAN))


def test_a_valid_plan_has_no_problems() -> None:
    assert of(task(), task("B", dependencies=["A"])).problems == ()


def test_what_is_missing_gets_a_default() -> None:
    plan = plan_of(of(task()))
    item = plan.items[0]
    assert (item.priority, item.phase, item.category, item.agent, item.model) == (Priority.MEDIUM, "", "", "", "")
    assert (item.dependencies, item.key_files, item.acceptance_criteria, item.test_steps) == ((), (), (), ())
    assert dict(plan.statuses) == {"A": ItemStatus.PENDING}
    assert (plan.name, plan.slug, plan.instructions) == ("tasks", "plan", {})


def test_null_is_the_same_as_missing() -> None:
    result = of(task(priority=None, status=None, key_files=None, phase=None, agent=None), agent_instructions=None)
    assert result.problems == ()
    assert plan_of(result).items[0].priority is Priority.MEDIUM


def test_a_task_may_choose_its_agent_and_model() -> None:
    item = plan_of(of(task(agent="claude", model="small"))).items[0]
    assert (item.agent, item.model) == ("claude", "small")


def test_a_phase_may_be_a_number() -> None:
    assert [item.phase for item in plan_of(of(task(phase=1), task("B", phase=1.5))).items] == ["1", "1.5"]


def test_instructions_have_older_names_and_may_be_one_text() -> None:
    plan = plan_of(of(task(), agent_instructions={"before": ["read", "think"], "after": "test"}))
    assert plan.instructions == {"before_start": ("read", "think"), "before_finish": ("test",)}


def test_a_byte_order_mark_is_accepted() -> None:
    assert parsed(b"\xef\xbb\xbf" + json.dumps({"tasks": [task()]}).encode()).problems == ()


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", (1, 1), "the file is empty"),
        (" \n ", (2, 2), "the file is empty"),
        ("[]", (1, 1), "the plan is a list"),
        ('"tasks"', (1, 1), "the plan is a text"),
        ("{}", (1, 1), "the plan has no list `tasks`"),
        ('{"tasks": {}}', (1, 11), "tasks of the plan is an object"),
        ('{"tasks": []}', (1, 11), "the plan is empty"),
        ('{\n  "tasks": [1]}', (2, 13), "task 1 is a number"),
        ('{"tasks": [{"id": "A",}]}', (1, 22), "a comma too many"),
        ('{"tasks": [1, ]}', (1, 13), "a comma too many"),
        ('{"a": 1\n "b": 2}', (2, 2), '`"` where `,` or `}` is expected'),
        ('{"a" 1}', (1, 6), "`1` where `:` is expected"),
        ("{a: 1}", (1, 2), "`a` where a key in double quotes or `}` is expected"),
        ("{'a': 1}", (1, 2), "a single quote"),
        ('{"a": 1 // one\n}', (1, 9), "a comment"),
        ('{"a": True}', (1, 7), "`T` where a value is expected"),
        ('{"a": tru}', (1, 7), "`t` where a value is expected"),
        ('{"a": }', (1, 7), "`}` where a value is expected"),
        ('{"a": NaN}', (1, 7), "`NaN` is not a JSON value"),
        ('{"a": -Infinity}', (1, 7), "`-Infinity` is not a JSON value"),
        ('{"a": ' + "9" * 5000 + "}", (1, 7), "a number with too many digits"),
        ('{"a": "x\ny"}', (1, 9), "a raw control character in a text"),
        ('{"a": "\\q"}', (1, 8), "a `\\` that begins no escape"),
        ('{"a": "x}', (1, 7), "a text without an end"),
        ('{"tasks": [{"id": "A"', (1, 22), "the file ends too early"),
        ('{"tasks":\n', (2, 1), "the file ends too early"),
        ("{} x", (1, 4), "text after the end of the JSON"),
        ("\x00", (1, 1), "`U+0000` where a value is expected"),
        ('{"a": ' + "[" * 200, (1, 106), "nested too deeply"),
        ("[" * 100_000, (1, 101), "nested too deeply"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_at_the_place(text: str, place: tuple[int, int], what: str) -> None:
    problem = only(parsed(text))
    assert (problem.what, (problem.line, problem.column), problem.severity) == (what, place, Severity.ERROR)
    assert problem.file == "tasks.json"
    assert problem.why
    assert problem.remedy


def test_a_truncated_file_names_what_is_still_open() -> None:
    assert only(parsed('{"tasks": [\n  {"id": "A"')).why == "the object that begins at line 2, column 3 is not closed"


def test_bytes_that_are_no_text_are_named_by_their_offset() -> None:
    problem = only(parsed(b'{"tasks": [\n{"id": "\xd1\x8f\xff"}]}'))
    assert (problem.what, problem.line, problem.column) == ("byte 22 (0xff) is not UTF-8", 2, 10)


def test_utf_16_is_told_apart() -> None:
    assert only(parsed('{"tasks": []}'.encode("utf-16"))).what == "the file is UTF-16"


def test_a_huge_file_is_refused_unread() -> None:
    problem = only(parsed(b" " * (50 * 1024 * 1024 + 1)))
    assert (problem.what, problem.why, str(problem)[:24]) == (
        "the file is too large",
        "the limit is 50 MB",
        "tasks.json: error: the f",
    )


def test_a_key_that_occurs_twice_is_an_error_at_its_second_place() -> None:
    result = parsed('{"tasks": [{"id": "A", "description": "x",\n "status": "done", "status": "pending"}]}')
    problem = only(result)
    assert result.plan is None
    assert (problem.what, problem.line, problem.column) == ("the key `status` occurs twice", 2, 20)
    assert "line 2, column 2" in problem.why


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    result = of(
        task(priority="urgent", status="doen"),
        {"description": "no id"},
        task("A"),
        task("B", dependencies=["B", "nope", "C"], key_files=["../x", "/etc/passwd"]),
        task("C", dependencies=["B"], test_steps="pytest"),
        {"id": "D"},
        {"id": 7, "description": "x"},
        "E",
    )
    assert errors(result) == [
        "task A has the priority `urgent`",
        "task A has the status `doen`",
        "task 2 has no id",
        "the id A occurs twice",
        "task B depends on itself",
        "task B depends on `nope`, which is not in the plan",
        "`../x` in key_files of task B leaves the repository",
        "`/etc/passwd` in key_files of task B is absolute; it must be relative to the repository's root",
        "a cycle of dependencies: B → C → B",
        "test_steps of task C is a text",
        "task D has no description",
        "the id of task 7 is a number",
        "task 8 is a text",
    ]


def test_a_problem_is_one_line_for_people() -> None:
    result = parsed(
        '{"tasks": [\n  {"id": "A", "description": "x", "dependencies": ["TASK1"]},\n'
        '  {"id": "TASK-1", "description": "x"}]}'
    )
    assert str(only(result)) == (
        "tasks.json:2:52: error: task A depends on `TASK1`, which is not in the plan: it could never start"
        " → did you mean `TASK-1`?"
    )


def test_twin_ids_are_told_with_both_places() -> None:
    result = parsed('{"tasks": [{"id": "A", "description": "x"},\n{"id": "A", "description": "y"}]}')
    problem = only(result)
    assert (problem.line, problem.column) == (2, 8)
    assert problem.why == "it is already the id of the task at line 1, column 19"


@pytest.mark.parametrize(
    ("item_id", "what"),
    [
        ("", "the id of task 1 is empty"),
        ("  ", "the id of task 1 is empty"),
        ("A\x00B", "the id of task 1 contains a control character"),
        ("A\nB", "the id of task 1 contains a control character"),
        ("A\x1b[31m", "the id of task 1 contains a control character"),
        ("A\ud800", "the id of task 1 contains a control character"),
        ("A\u202eB", "the id of task 1 contains a character that turns the direction of writing"),
        ("A" * 201, "the id of task 1 has 201 characters, more than 200"),
    ],
)
def test_ids_that_cannot_be_shown_are_errors(item_id: str, what: str) -> None:
    assert errors(of(task(item_id))) == [what]


@pytest.mark.parametrize(
    "item_id", ["A" * 200, "-x", "..", "a b", "$(id)", "задача-1", "משימה", "TASK-001a", "a/b", "🚀"]
)
def test_odd_ids_are_accepted_as_they_are(item_id: str) -> None:
    assert [item.id for item in plan_of(of(task(item_id))).items] == [item_id]


def test_texts_of_any_kind_survive() -> None:
    descriptions = [
        "x" * 5000,
        "$(id) `id` ; rm -rf ~",
        "\u202b\u05e9\u05dc \u05e2\u05d5\u202c",
        "日本語 🚀",
        "a\tb\r\nc",
        '\\ " /',
    ]
    plan = plan_of(of(*(task(str(number), description=text) for number, text in enumerate(descriptions))))
    assert [item.description for item in plan.items] == descriptions
    assert len(plan.items[0].title) == 72
    assert plan.items[1].title == "$(id) `id` ; rm -rf ~"


def test_a_nul_character_in_a_text_is_replaced_and_told() -> None:
    result = of(task(description="a\x00b", test_steps=["true\x00"]))
    assert plan_of(result).items[0].description == "a\N{REPLACEMENT CHARACTER}b"
    assert [problem.what for problem in result.problems] == [
        "a NUL character in description of task A",
        "a NUL character in test_steps of task A",
    ]


def test_half_a_character_is_an_error() -> None:
    assert errors(of(task(description="\ud83d"))) == ["half a character in description of task A"]
    assert plan_of(of(task(description="\U0001f680"))).items[0].description == "\U0001f680"


def test_a_description_may_be_empty_where_criteria_say_what_to_do() -> None:
    assert of(task(description="", acceptance_criteria=["it works"])).problems == ()
    assert errors(of(task(description=""))) == ["task A has no description"]


@pytest.mark.parametrize(
    ("written", "read"), [("High", Priority.HIGH), (" critical ", Priority.CRITICAL), ("LOW", Priority.LOW)]
)
def test_a_priority_in_other_letters_is_read_with_a_warning(written: str, read: Priority) -> None:
    result = of(task(priority=written))
    assert plan_of(result).items[0].priority is read
    assert only(result).severity is Severity.WARNING


def test_a_status_in_other_words_is_read_with_a_warning() -> None:
    result = of(task(status="In Progress"))
    assert plan_of(result).statuses == {ItemId("A"): ItemStatus.IN_PROGRESS}
    assert only(result).why == "it is read as `in_progress`"


def test_an_unknown_word_is_refused_with_the_nearest_and_the_choice() -> None:
    problem = only(of(task(priority="hihg")))
    assert problem.why == "a priority is one of critical, high, medium, low"
    assert problem.remedy == "did you mean `high`?"
    assert only(of(task(priority="P0"))).remedy == "write one of them; without a priority it is `medium`"


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"description": 5}, "description of task A is a number"),
        ({"priority": ["high"]}, "priority of task A is a list"),
        ({"status": True}, "status of task A is true or false"),
        ({"dependencies": "B"}, "dependencies of task A is a text"),
        ({"dependencies": [1]}, "dependencies of task A is a number"),
        ({"key_files": {}}, "key_files of task A is an object"),
        ({"acceptance_criteria": [None]}, "acceptance_criteria of task A is null"),
        ({"agent": 1}, "agent of task A is a number"),
        ({"phase": True}, "phase of task A is true or false"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_once(fields: dict[str, Any], what: str) -> None:
    assert errors(of(task(**fields))) == [what]


def test_unknown_keys_are_told_once_each_with_the_nearest_known_one() -> None:
    result = of(
        task(depends_on=["x"], estimate=3),
        task("B", depends_on=[], estimate=5),
        owner="me",
        agent_instructions={"during": ["x"]},
    )
    assert result.plan is not None
    assert [(problem.what, problem.remedy) for problem in result.problems] == [
        ("unknown plan key `owner`", "nothing to do, unless it is misspelt"),
        ("unknown agent_instructions key `during`", "did you mean `during_work`?"),
        ("unknown task key `depends_on`, 2 times in all", "did you mean `dependencies`?"),
        ("unknown task key `estimate`, 2 times in all", "nothing to do, unless it is misspelt"),
    ]
    assert {problem.severity for problem in result.problems} == {Severity.WARNING}


def test_cycles_are_named_one_by_one() -> None:
    result = of(
        task("A", dependencies=["B"]),
        task("B", dependencies=["C"]),
        task("C", dependencies=["A"]),
        task("X", dependencies=["Y", "A"]),
        task("Y", dependencies=["X"]),
    )
    assert errors(result) == ["a cycle of dependencies: A → B → C → A", "a cycle of dependencies: X → Y → X"]
    assert result.problems[0].remedy == "remove one of these dependencies, such as A of C"


def test_a_long_cycle_is_named_by_its_ends() -> None:
    count = 2_000
    result = of(*(task(f"T{number}", dependencies=[f"T{(number + 1) % count}"]) for number in range(count)))
    [what] = errors(result)
    assert what == (
        "a cycle of dependencies: T0 → T1 → T2 → T3 → T4 → T5 → … 1989 more …"
        " → T1995 → T1996 → T1997 → T1998 → T1999 → T0"
    )


def test_a_dense_tangle_is_told_in_reasonable_number() -> None:
    names = [f"T{number}" for number in range(60)]
    assert len(errors(of(*(task(name, dependencies=names) for name in names)))) == 60 + 20


def test_an_empty_path_claims_nothing_and_is_told() -> None:
    result = of(task(key_files=["", "a.py"]))
    assert plan_of(result).items[0].key_files == ("a.py",)
    assert only(result).severity is Severity.WARNING


@pytest.mark.parametrize(
    "step",
    [
        "Run the tests and check that all pass",
        "Verify login works",
        "Проверить, что всё работает",
        "verify that the page opens",
        "make sure the build is green",
        "- Open the page",
        "check if the file exists",
        "Done.",
    ],
)
def test_a_sentence_among_the_test_steps_is_told(step: str) -> None:
    result = of(task(test_steps=[step]))
    assert plan_of(result).items[0].test_steps == (step,)
    assert "reads like a sentence" in only(result).what


@pytest.mark.parametrize(
    "step",
    [
        "pytest -q",
        "make test",
        "make check",
        "npm run test",
        "test -f a.txt",
        'test -z "$(git status --porcelain)"',
        "./run.sh",
        "PYTHONPATH=src python -m pytest",
        "Rscript test.R",
        "[ -f a ]",
        "! grep -q TODO a.py",
        "cd web && npm test",
        "$(id)",
        "open index.html",
        "check it.py",
        "(cd a; ls)",
    ],
)
def test_a_command_is_left_in_peace(step: str) -> None:
    assert of(task(test_steps=[step])).problems == ()


def test_a_blank_test_step_is_left_out() -> None:
    assert plan_of(of(task(test_steps=["", " ", "true"]))).items[0].test_steps == ("true",)


def test_a_plan_file_is_loaded_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "plans" / "a.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"tasks": [task(priority="LOW")]}), encoding="utf-8")
    result = load(path, tmp_path)
    assert plan_of(result).source == str(path)
    assert only(result).file == "plans/a.json"


def test_a_plan_file_that_cannot_be_read_is_a_problem_like_any_other(tmp_path: Path) -> None:
    assert str(only(load(tmp_path / "a.json", tmp_path))) == (
        "a.json: error: not a plan file: there is no such file → name an existing plan file"
    )
    assert only(load(tmp_path, tmp_path)).why == "it is not a regular file"


@pytest.mark.skipif(os.name == "nt", reason="file names on Windows are text")
def test_a_plan_file_with_a_name_that_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"plan\xff\x1b.json")
    path.write_text(json.dumps({"tasks": []}), encoding="utf-8")
    problem = only(load(path, tmp_path))
    assert problem.file.encode() == "plan\ufffd\ufffd.json".encode()
