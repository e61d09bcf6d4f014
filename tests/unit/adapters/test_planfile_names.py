from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.planfile import discover, plan_id, slug

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Payment service", "payment-service"),
        ("prd-auth-tasks", "auth"),
        ("PRD-Auth_Tasks", "auth"),
        ("tasks", "plan"),
        ("", "plan"),
        ("///", "plan"),
        ("Личный кабинет", "lichnyy-kabinet"),
        ("Ещё щука", "eshche-shchuka"),
        ("Über Café", "uber-cafe"),
        ("支付", "zhifu"),
        ("🚀", "rocket"),
        ("$(id) `x`", "id-x"),
        ("../../etc", "etc"),
        ("a" * 60, "a" * 48),
        ("a" * 47 + " bc", "a" * 47),
        ("x\x00y\n", "x-y"),
    ],
)
def test_a_slug_fits_into_a_branch_name(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_a_plans_id_comes_from_its_place_in_the_repository_alone(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    assert plan_id(here / "tasks.json", here) == "plan-f6a78353"
    assert plan_id(there / "tasks.json", there) == "plan-f6a78353"
    assert plan_id(here / "x" / ".." / "tasks.json", here) == "plan-f6a78353"
    assert plan_id(here / "plans" / "tasks.json", here) == "plan-9ca35511"
    assert plan_id(here / ".planning" / "prd-auth-tasks.json", here).startswith("auth-")


def test_a_link_to_a_plan_is_the_same_plan(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text("{}", encoding="utf-8")
    (tmp_path / "link.json").symlink_to("tasks.json")
    assert plan_id(tmp_path / "link.json", tmp_path).endswith("-f6a78353")


def test_the_plans_of_a_repository_are_found_in_a_fixed_order(tmp_path: Path) -> None:
    planning = tmp_path / ".planning"
    planning.mkdir()
    for name in ("b-tasks.json", "a_tasks_v2.json", "tasks.json", "notes.json", "tasks.md"):
        (planning / name).write_text("{}", encoding="utf-8")
    (planning / "old-tasks.json").mkdir()
    assert [path.name for path in discover(tmp_path)] == ["a_tasks_v2.json", "b-tasks.json", "tasks.json"]
    (tmp_path / "tasks.json").write_text("{}", encoding="utf-8")
    assert discover(tmp_path)[0] == tmp_path / "tasks.json"


def test_a_repository_without_plans_has_none(tmp_path: Path) -> None:
    assert discover(tmp_path) == ()
