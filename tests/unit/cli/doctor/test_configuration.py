from __future__ import annotations

from typing import TYPE_CHECKING

import keyring
import pytest

from whilly.engine.inspection.ledger import _without_password
from whilly.testing.keyring import MemoryKeyring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.cli.doctor.conftest import Clinic


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


def test_every_wrong_setting_is_a_problem_and_everything_else_is_still_looked_at(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": "[run]\nparalel = 3\nbudget_usd = -1\n", "whilly_logs/a": ""})
    said = clinic.look()
    found = [each for each in said.report["findings"] if each["code"] == "configuration_invalid"]
    assert [each["subject"] for each in found] == ["whilly.toml:2", "whilly.toml:3"]
    assert found[0]["remedy"] == "did you mean run.parallel?"
    assert said.code == 1
    assert {"ledger_not_examined", "predecessor_left"} <= set(said.codes)


def test_a_file_that_is_no_toml_is_a_problem(clinic: Clinic) -> None:
    (clinic.root / "whilly.toml").write_bytes(b"\xff\xfe")
    assert clinic.look("--fix").find("configuration_invalid")["subject"] == "whilly.toml"


def test_with_an_invalid_configuration_nothing_counts_as_a_leftover(clinic: Clinic) -> None:
    clinic.open_workspace("gone-1")
    clinic.write({"whilly.toml": "["})
    said = clinic.look("--fix")
    assert "workspace_orphan" not in said.codes
    assert (clinic.state / "worktrees" / "gone-1").is_dir()


def test_a_setting_that_does_nothing_is_a_note(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": "VOICE = true\n[jira]\nenabled = true\n"})
    said = clinic.look()
    assert (said.code, said.codes) == (0, ["configuration_warning", "setting_for_later"])
    assert said.find("setting_for_later")["subject"] == "jira.enabled"


def test_a_pipeline_that_is_none_is_a_problem(clinic: Clinic) -> None:
    clinic.write({".whilly/pipelines/solo.toml": "name = 3\nodd = 1\n", ".whilly/.gitignore": "*\n"})
    assert "odd" in clinic.look().find("pipeline_invalid")["what"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"name = 'solo'\n\xff", "is not a pipeline: it is not UTF-8 text (byte 15)"),
        (b"name = [", "is not a pipeline: it is not valid TOML: "),
        (b"first = 'x'", "is not a pipeline:\n  `name` is missing\n  first stage 'x' does not exist"),
    ],
)
def test_a_file_that_is_no_pipeline_is_named_with_what_to_do(clinic: Clinic, data: bytes, why: str) -> None:
    clinic.write({".whilly/pipelines/odd.toml": "", ".whilly/.gitignore": "*\n"})
    path = clinic.state / "pipelines" / "odd.toml"
    path.write_bytes(data)
    found = clinic.look().find("pipeline_invalid")
    assert (found["severity"], str(path) in found["remedy"]) == ("problem", True)
    assert found["what"].startswith(f"{path} {why}")


def test_a_prompt_that_is_no_template_is_a_problem(clinic: Clinic) -> None:
    clinic.write({".whilly/prompts/task.md.j2": "{% macro %}", ".whilly/.gitignore": "*\n"})
    found = clinic.look().find("prompt_invalid")
    assert "prompt template task.md.j2: line 1" in found["what"]
    assert str(clinic.state / "prompts" / "task.md.j2") in found["remedy"]


def test_a_secret_that_is_not_there_is_a_problem(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": '[github]\ntoken = "env:GONE"\n'})
    found = clinic.look().find("secret_missing")
    assert (found["subject"], found["what"]) == (
        "github.token",
        "github.token (whilly.toml:2) refers to env:GONE, which is not set",
    )
    clinic.monkeypatch.setenv("GONE", "here")
    assert "secret_missing" not in clinic.look().codes


def test_a_secrets_file_that_cannot_be_read_is_a_problem(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": f'[github]\ntoken = "file:{clinic.root}"\n'})
    assert clinic.look().find("secret_unreadable")["subject"] == "github.token"


def test_a_locked_keyring_is_a_problem_only_when_a_setting_refers_to_it(
    clinic: Clinic, memory_keyring: MemoryKeyring
) -> None:
    memory_keyring.is_locked = True
    assert clinic.look().codes == []
    clinic.write({"whilly.toml": '[github]\ntoken = "keyring:whilly/github"\n'})
    assert clinic.look().find("keyring_unusable")["severity"] == "problem"
    memory_keyring.is_locked = False
    assert clinic.look().find("secret_missing")["remedy"] == "python -m keyring set whilly github"
    memory_keyring.set_password("whilly", "github", "a-token")
    said = clinic.look()
    assert (said.codes, "a-token" in str(said.report)) == ([], False)


def test_a_machine_without_a_keyring_is_no_finding(clinic: Clinic) -> None:
    clinic.monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    before = keyring.get_keyring()
    keyring.core.init_backend()
    said = clinic.look()
    keyring.set_keyring(before)
    assert (said.code, said.report["facts"]["keyring"]) == (0, "none")


def test_a_ledger_whose_address_is_not_set_cannot_be_read(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": '[storage]\ndatabase_url = "env:GONE"\n'})
    said = clinic.look("--fix")
    assert {"secret_missing", "ledger_unreadable"} <= set(said.codes)


def test_the_password_of_a_database_is_not_shown(clinic: Clinic) -> None:
    clinic.write({"whilly.toml": '[storage]\ndatabase_url = "postgresql://me:hush@127.0.0.1:1/x"\n'})
    said = clinic.look()
    assert said.find("ledger_unreadable")["subject"] == "storage.database_url"
    assert "hush" not in str(said.report)


def test_whatever_a_driver_says_the_password_is_not_in_it() -> None:
    url = "postgresql://me:hush@host/x"
    assert _without_password(f"cannot connect to {url}", url) == "cannot connect to postgresql://me:<redacted>@host/x"
    assert _without_password("what is ://hush?", "://hush") == "what is <the address>?"
