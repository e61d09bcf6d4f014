"""Issues go into a plan and leave alone what people wrote there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from whilly.domain.confinement import Tier
from whilly.domain.forge.issue import Issue, IssueState, Permission, Person
from whilly.domain.forge.place import GITHUB_COM, Place, Provider
from whilly.domain.forge.reference import IssueRef
from whilly.domain.ids import ItemId
from whilly.domain.intake.plan_merge import Merge, Task, merge_issues
from whilly.domain.work_item import ItemStatus, Priority, WorkItem

AT = datetime(2026, 1, 1, tzinfo=UTC)
JIRA = Place("jira", Provider.JIRA, "https://jira.example")
BODY = """\
The total is wrong.

**Files:** src/total.py
{depends}

## Acceptance
- the total is right

## Test
- `make test`
"""


def issue(number: int, title: str = "Wrong total", depends: str = "", scope: str = "ada/engine") -> Issue:
    return Issue(
        ref=IssueRef("github", scope, str(number)),
        title=title,
        body=BODY.format(depends=f"**Depends:** {depends}" if depends else ""),
        author=Person("1", "ada"),
        permission=Permission.WRITE,
        state=IssueState.OPEN,
        status="open",
        url=f"https://github.com/{scope}/issues/{number}",
        created_at=AT,
        updated_at=AT,
        labels=("priority:high",),
    )


def ticket(number: int) -> Issue:
    plain = issue(number)
    return replace(plain, ref=IssueRef("jira", "ABC", f"ABC-{number}"), url=f"https://jira.example/browse/ABC-{number}")


def closed(one: Issue, status: str = "closed") -> Issue:
    return replace(one, state=IssueState.CLOSED, status=status)


def merge(tasks: list[Task], *issues: Issue) -> Merge:
    return merge_issues(tasks, issues, Provider.GITHUB, (GITHUB_COM,))


def written(name: str, description: str = "by hand", url: str = "", *dependencies: str) -> Task:
    item = WorkItem(
        ItemId(name), description, prd_requirement=url, dependencies=tuple(ItemId(each) for each in dependencies)
    )
    return Task(item, ItemStatus.PENDING, url)


def imported(*issues: Issue, status: ItemStatus = ItemStatus.PENDING) -> list[Task]:
    return [Task(item, status, item.prd_requirement) for item in merge([], *issues).added]


def test_an_issue_becomes_a_task() -> None:
    (item,) = merge([], issue(12)).added
    assert item == WorkItem(
        id=ItemId("GH-12"),
        description="Wrong total\n\nThe total is wrong.",
        priority=Priority.HIGH,
        phase="GH-Issues",
        category="github-issue",
        key_files=("src/total.py",),
        acceptance_criteria=("the total is right",),
        test_steps=("make test",),
        prd_requirement="https://github.com/ada/engine/issues/12",
    )


@pytest.mark.parametrize("permission", [Permission.READ, Permission.NONE, Permission.UNKNOWN])
def test_what_strangers_wrote_is_contained_and_their_commands_are_not_run(permission: Permission) -> None:
    (item,) = merge([], replace(issue(12), permission=permission)).added
    assert (item.isolation, item.test_steps) == (Tier.CONTAINED, ())


def test_the_same_issues_once_more_change_nothing() -> None:
    issues = [issue(1), issue(2, depends="#1")]
    again = merge(imported(*issues), *issues)
    assert (again.is_empty, again.unchanged, again.notes) == (True, ("GH-1", "GH-2"), ())


def test_what_changed_in_the_issue_changes_in_the_task_and_nothing_else() -> None:
    (task,) = imported(issue(12), status=ItemStatus.DONE)
    own = replace(task.item, phase="mine", category="mine", model="opus", isolation=Tier.CONTAINED)
    made = merge([replace(task, item=own)], issue(12, "Wrong sum"))
    assert made.changed == {"GH-12": {"description": "Wrong sum\n\nThe total is wrong."}}
    assert (made.added, made.skipped) == ((), {})


def test_every_field_that_follows_the_issue_does() -> None:
    task = written("GH-12", "old", "https://github.com/ada/engine/issues/12")
    made = merge([task, written("TASK-1")], issue(12, depends="TASK-1"))
    fields = "description priority key_files acceptance_criteria test_steps dependencies"
    assert set(made.changed[ItemId("GH-12")]) == set(fields.split())
    assert made.changed[ItemId("GH-12")]["dependencies"] == ("TASK-1",)


def test_tasks_by_hand_are_left_alone() -> None:
    made = merge([written("TASK-1"), written("TASK-2")], issue(1))
    assert ([item.id for item in made.added], made.changed, made.skipped) == (["GH-1"], {}, {})


@pytest.mark.parametrize(
    ("status", "skipped", "told"),
    [
        (ItemStatus.PENDING, {"GH-1": "ada/engine#1 is closed (not_planned)"}, []),
        (ItemStatus.DONE, {}, []),
        (ItemStatus.SKIPPED, {}, []),
        (ItemStatus.IN_PROGRESS, {}, ["ada/engine#1 is closed (not_planned), and its task GH-1 stays in_progress"]),
        (ItemStatus.FAILED, {}, ["ada/engine#1 is closed (not_planned), and its task GH-1 stays failed"]),
    ],
)
def test_a_closed_issue(status: ItemStatus, skipped: dict[str, str], told: list[str]) -> None:
    made = merge(imported(issue(1), status=status), closed(issue(1, "Other words"), "not_planned"))
    assert (made.skipped, list(made.notes), made.changed) == (skipped, told, {})


def test_closed_issues_and_pull_requests_are_not_imported() -> None:
    made = merge([], closed(issue(1)), replace(issue(2), is_pull_request=True))
    assert made.is_empty
    assert made.notes == (
        "ada/engine#1 is closed and not imported",
        "ada/engine#2 is a pull request and not imported",
    )


def test_an_issue_that_comes_twice_is_one_task() -> None:
    twice = replace(issue(1), ref=IssueRef("github", "Ada/Engine", "1"))
    assert [item.id for item in merge([], issue(1), twice).added] == ["GH-1"]


def test_an_issue_that_another_task_is_about_is_not_done_twice() -> None:
    made = merge([written("TASK-7", url="https://github.com/Ada/engine/issues/1")], issue(1))
    assert made.is_empty
    assert made.notes == ("ada/engine#1 is not imported: TASK-7 is about it already",)


def test_two_repositories_in_one_plan() -> None:
    first, second = issue(1), issue(1, scope="ada/other")
    tasks = imported(first, second)
    assert [task.item.id for task in tasks] == ["GH-1", "GH-ada-other-1"]
    assert merge(tasks, second, first).unchanged == ("GH-ada-other-1", "GH-1")


def test_a_number_that_a_task_by_hand_has_is_left_to_it() -> None:
    made = merge([written("GH-1")], issue(1))
    assert ([item.id for item in made.added], made.changed) == (["GH-ada-engine-1"], {})


def test_a_key_that_a_task_by_hand_has_is_left_to_it() -> None:
    made = merge_issues([written("ABC-1")], [ticket(1), ticket(2)], Provider.JIRA, (JIRA,))
    assert ([item.id for item in made.added], made.changed) == (["JIRA-ABC-1", "ABC-2"], {})
    assert made.notes == ("ABC-1 is JIRA-ABC-1: ABC-1 is another task",)
    tasks = [written("ABC-1"), *(Task(each, ItemStatus.PENDING, each.prd_requirement) for each in made.added)]
    again = merge_issues(tasks, [ticket(1), ticket(2)], Provider.JIRA, (JIRA,))
    assert again.unchanged == ("JIRA-ABC-1", "ABC-2")


def test_dependencies_lead_to_tasks_that_are_there_or_come() -> None:
    old = imported(issue(3), status=ItemStatus.DONE)
    url = "https://github.com/ada/engine/issues/2"
    made = merge([*old, written("TASK-1")], issue(1, depends=f"ada/engine#3, {url}, TASK-1"), issue(2))
    assert made.added[0].dependencies == ("GH-3", "GH-2", "TASK-1")
    assert made.notes == ()


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("#9", "that is no task of the plan"),
        ("TASK-9", "that is no task of the plan"),
        ("#1", "that is the issue itself"),
        ("#3", "GH-3 is skipped"),
        ("#4", "GH-4 is skipped"),
    ],
)
def test_a_dependency_that_could_never_be_waited_for_is_told(wanted: str, why: str) -> None:
    tasks = [*imported(issue(3)), *imported(issue(4), status=ItemStatus.SKIPPED)]
    made = merge(tasks, issue(1, depends=wanted), closed(issue(3)))
    assert made.added[0].dependencies == ()
    assert f"GH-1 does not wait for {wanted}: {why}" in made.notes


def test_whoever_waits_for_what_is_skipped_is_told() -> None:
    made = merge([*imported(issue(1)), written("TASK-1", "x", "", "GH-1")], closed(issue(1)))
    assert made.notes == ("TASK-1 waits for GH-1, which is skipped now",)
