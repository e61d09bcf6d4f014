from __future__ import annotations

import json
from typing import TYPE_CHECKING

import alembic.command  # noqa: F401  (attaches its log handler for good, on import)
import pytest

from whilly.domain.flow.plan_run import PlanPhase
from whilly.engine.tables import metadata

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.doctor.conftest import Clinic


def damage(path: Path) -> None:
    """Overwrite the pages behind the first one."""
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["no database", "damaged", "rows", "directory"])
def test_a_ledger_that_cannot_be_read_is_a_problem_and_is_left_as_it_is(clinic: Clinic, how: str) -> None:
    clinic.plan()
    clinic.open_workspace("gone-1")
    path = clinic.state / "whilly.db"
    if how == "rows":
        clinic.execute("UPDATE plans SET state = '{'")
    clinic.close()
    if how == "no database":
        path.write_text("This is no database. " * 500, encoding="utf-8")
    elif how == "damaged":
        damage(path)
    elif how == "directory":
        path.unlink()
        path.mkdir()
    said = clinic.look("--fix")
    assert said.code == 1
    assert said.find("ledger_unreadable" if how == "directory" else "ledger_damaged")["fixable"] is False
    assert (said.mended, "workspace_orphan" in said.codes) == ([], False)
    assert (clinic.state / "worktrees" / "gone-1").is_dir()


def test_a_ledger_of_a_newer_whilly_is_a_problem_and_is_left_as_it_is(clinic: Clinic) -> None:
    clinic.plan()
    clinic.execute("UPDATE alembic_version SET version_num = '9999'")
    said = clinic.look("--fix")
    assert (said.code, said.mended) == (1, [])
    assert "9999" in said.find("ledger_newer")["what"]


@pytest.mark.parametrize("how", ["empty", "no tables"])
def test_a_ledger_that_was_cut_off_at_its_beginning_is_completed(clinic: Clinic, how: str) -> None:
    clinic.plan()
    path = clinic.state / "whilly.db"
    if how == "empty":
        clinic.close()
        path.write_bytes(b"")
    else:
        with clinic.project().database.begin() as tx:
            metadata.drop_all(tx)
        clinic.execute("DROP TABLE alembic_version")
    assert clinic.look().find("ledger_outdated")["severity"] == "note"
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, [], ["ledger_outdated"])
    assert clinic.look("--fix").mended == []


def test_a_ledger_of_an_older_whilly_is_a_note(clinic: Clinic) -> None:
    clinic.plan()
    clinic.execute("UPDATE alembic_version SET version_num = '0000'")
    assert "its schema is 0000" in clinic.look().find("ledger_outdated")["what"]


def test_a_step_that_cannot_be_done_is_said_and_the_finding_stays(clinic: Clinic) -> None:
    clinic.plan()
    clinic.execute("UPDATE alembic_version SET version_num = '0000'")
    said = clinic.look("--fix")
    assert "ledger_outdated" in said.codes
    (failed,) = said.report["not_mended"]
    assert (failed["code"], "0000" in failed["reason"]) == ("ledger_outdated", True)
    assert "not mended: " in clinic.read("--fix")[1]


def test_a_plan_that_nobody_works_on_is_brought_to_rest(clinic: Clinic) -> None:
    run = clinic.begin(clinic.plan())
    said = clinic.look()
    assert (said.code, said.find("plan_active")["fixable"]) == (1, True)
    said = clinic.look("--fix")
    assert (said.code, said.codes, said.mended) == (0, [], ["plan_active"])
    survey = clinic.survey()
    assert [plan.phase for plan in survey.plans] == [PlanPhase.IDLE]
    assert [(each.id, each.is_ended) for each in survey.runs] == [(run, False)]
    assert clinic.look("--fix").mended == []


def test_a_plan_whose_file_is_gone_is_a_problem_until_it_is_over(clinic: Clinic) -> None:
    clinic.plan(".planning/a-tasks.json")
    (clinic.root / ".planning" / "a-tasks.json").unlink()
    found = clinic.look().find("plan_file_missing")
    assert (found["severity"], found["remedy"].startswith("restore it: git checkout -- ")) == ("problem", True)
    clinic.execute("UPDATE work_items SET status = 'done'")
    assert clinic.look().find("plan_file_missing")["severity"] == "note"


def test_a_plan_from_outside_the_repository_is_a_note(clinic: Clinic) -> None:
    clinic.plan("../tasks.json")
    said = clinic.look()
    assert (said.code, said.codes) == (0, ["plan_file_outside"])


def test_a_plan_file_that_cannot_be_run_is_a_note(clinic: Clinic) -> None:
    clinic.write(
        {"tasks.json": '{"tasks": []}', ".planning/x-tasks.json": "[", "tasks-old.json": '{"tasks": [{}, {}]}'}
    )
    said = clinic.look()
    found = [each for each in said.report["findings"] if each["code"] == "plan_invalid"]
    assert [each["subject"] for each in found] == ["tasks.json", ".planning/x-tasks.json", "tasks-old.json"]
    assert "the plan is empty" in found[0]["what"]
    assert said.code == 0


def test_a_plan_file_in_which_all_is_done_is_a_note(clinic: Clinic) -> None:
    tasks = [{"id": "A", "description": "a", "status": "done"}, {"id": "B", "description": "b", "status": "skipped"}]
    clinic.write({"tasks.json": json.dumps({"tasks": tasks})})
    assert clinic.look().find("plan_finished")["subject"] == "tasks.json"
    clinic.write({"tasks.json": json.dumps({"tasks": [*tasks, {"id": "C", "description": "c"}]})})
    assert clinic.look().codes == []


def test_where_the_ledger_knows_a_plan_its_word_counts(clinic: Clinic) -> None:
    clinic.plan(status="pending")
    clinic.execute("UPDATE work_items SET status = 'done'")
    assert clinic.look().find("plan_finished")["subject"] == "tasks.json"


def test_a_plan_file_whose_name_is_not_for_every_system_is_a_note(clinic: Clinic) -> None:
    text = json.dumps({"tasks": [{"id": "A", "description": "a"}]})
    clinic.write({"tasks-a:b.json": text})
    found = clinic.look().find("plan_name_invalid")
    assert found["remedy"] == "git mv 'tasks-a:b.json' 'tasks-a-b.json'"


def test_finished_work_that_is_on_no_branch_is_a_note(clinic: Clinic) -> None:
    clinic.begin(clinic.plan())
    before = clinic.scratch.git("rev-parse", "HEAD")
    clinic.write({"a.txt": "made"})
    commit = clinic.scratch.commit("A")
    ending = f'{{"status": "done", "commit": "{commit}"}}'
    state = f"json_set(state, '$.phase', 'ended', '$.ending', json('{ending}'))"
    clinic.execute(f"UPDATE runs SET phase = 'ended', is_closed = 1, state = {state}")  # noqa: S608  (the test's own)
    clinic.execute("UPDATE work_items SET status = 'done'")
    assert "work_unreachable" not in clinic.look().codes
    clinic.scratch.git("reset", "--quiet", "--hard", before)
    found = clinic.look().find("work_unreachable")
    assert (commit in found["remedy"], found["fixable"]) == (True, False)
