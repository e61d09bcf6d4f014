from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Protocol

import keyring
import pytest

from whilly.cli.main import main
from whilly.testing.keyring import MemoryKeyring

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Run(Protocol):
    def __call__(self, *arguments: str) -> tuple[int, str, str]: ...


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository's root; the current directory is one below it, and the user has no settings."""
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return root


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    assert root.is_dir()

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["config", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


def write(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8")


def test_show_lists_every_setting_and_says_where_it_comes_from(run: Run, root: Path) -> None:
    write(root, "whilly.toml", '[run]\nparallel = 7\n[agents.mine]\nargv = ["x"]\n')
    code, out, _ = run("show", "--origin")
    lines = out.splitlines()
    assert code == 0
    assert "run.parallel = 7  # repository file (whilly.toml:2)" in lines
    assert "run.timeout_s = 0  # default" in lines
    assert 'agents.mine.argv = ["x"]  # repository file (whilly.toml:4)' in lines
    assert f"# dotenv: {root / '.env'} (not there)" in lines


def test_what_show_prints_is_toml(run: Run) -> None:
    assert tomllib.loads(run("show")[1])["run"]["parallel"] == 3


def test_show_as_json_has_values_origins_files_and_warnings(run: Run, root: Path) -> None:
    write(root, "whilly.toml", "VOICE = true\n")
    shown = json.loads(run("show", "--json")[1])
    assert shown["settings"]["profile.verify"] == []
    assert shown["origins"]["run.parallel"] == "default"
    assert shown["files"]["repository"] == {"path": str(root / "whilly.toml"), "exists": True}
    assert shown["warnings"] == ["whilly.toml:1: VOICE has no effect: this version does not have it"]


def test_warnings_go_to_standard_error(run: Run, root: Path) -> None:
    write(root, ".env", "WHILLY_MODEL=x\n")
    _, out, err = run("get", "agent.model")
    assert (out, err.count("deprecated")) == ("x\n", 1)


def test_secrets_and_passwords_are_never_shown(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "whilly.toml", '[storage]\ndatabase_url = "postgresql://me:hunter2@host/db"\n')
    monkeypatch.setenv("WHILLY_GH_TOKEN", "ghp_hunter2")
    for arguments in (("show",), ("show", "--json"), ("get", "storage.database_url"), ("get", "github.token")):
        code, out, err = run(*arguments)
        assert (code, "hunter2" in out + err) == (0, False)
    assert run("get", "storage.database_url")[1] == "postgresql://me:<redacted: 7 chars>@host/db\n"


def test_an_invalid_configuration_is_4_and_lists_everything(run: Run, root: Path) -> None:
    write(root, "whilly.toml", "[run]\nparalel = 1\nparallel = 0\n")
    code, _, err = run("show")
    assert code == 4
    assert err.startswith("whilly: 2 problems in the configuration:\n  whilly.toml:2: ")


@pytest.mark.parametrize(
    ("key", "value"),
    [("run.parallel", "3"), ("MAX_PARALLEL", "3"), ("whilly_max_parallel", "3"), ("agents.claude.safe", "false")],
)
def test_get_knows_every_spelling_and_gives_defaults(run: Run, key: str, value: str) -> None:
    assert run("get", key)[:2] == (0, f"{value}\n")


def test_get_as_json(run: Run) -> None:
    assert json.loads(run("get", "profile.verify", "--json")[1]) == []


@pytest.mark.parametrize(
    ("key", "hint"), [("run.paralel", "run.parallel"), ("run", "is a table"), ("x", "config show")]
)
def test_an_unknown_key_names_the_nearest(run: Run, key: str, hint: str) -> None:
    for arguments in (("get", key), ("set", key, "1")):
        code, _, err = run(*arguments)
        assert (code, hint in err) == (4, True)


def test_set_writes_the_repositorys_file_or_ones_own(run: Run, root: Path) -> None:
    assert run("set", "run.parallel", "5")[0] == 0
    assert run("set", "agent.model", "big", "--user")[0] == 0
    assert (run("get", "run.parallel")[1], run("get", "agent.model")[1]) == ("5\n", "big\n")
    assert tomllib.loads((root / "whilly.toml").read_text(encoding="utf-8")) == {"run": {"parallel": 5}}


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("profile.verify", "make a, b", ["make a, b"]),
        ("profile.verify", '["a", {"run": "b", "accept": [0, 5]}]', ["a", {"run": "b", "accept": [0, 5]}]),
        ("agent.env_pass", "A,B", ["A", "B"]),
        ("run.budget_usd", "2.50", 2.5),
        ("run.headless", "yes", True),
        ("github.token", "keyring:whilly/github", "keyring:whilly/github"),
        ("agents.mine.argv", '["-x"]', ["-x"]),
        ("agent.model", "--dashes", "--dashes"),
    ],
)
def test_set_takes_every_type(run: Run, root: Path, key: str, value: str, stored: object) -> None:
    assert run("set", key, value)[0] == 0
    found: object = tomllib.loads((root / "whilly.toml").read_text(encoding="utf-8"))
    for name in key.split("."):
        assert isinstance(found, dict)
        found = found[name]
    assert found == stored


@pytest.mark.parametrize(
    ("key", "value"), [("run.parallel", "many"), ("github.token", "ghp_hunter2"), ("agents.mine.safe", "yes")]
)
def test_a_value_that_does_not_fit_changes_nothing(run: Run, root: Path, key: str, value: str) -> None:
    write(root, "whilly.toml", "# mine\n")
    code, _, err = run("set", key, value)
    assert (code, "hunter2" in err) == (4, False)
    assert (root / "whilly.toml").read_text(encoding="utf-8") == "# mine\n"


def test_edit_makes_the_file_opens_it_and_checks_what_was_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "[run]\nparalel = 1" > "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    code, _, err = run("edit")
    assert (code, "did you mean run.parallel?" in err) == (4, True)


def test_migrate_shows_asks_and_moves(run: Run, root: Path, memory_keyring: MemoryKeyring) -> None:
    write(root, ".env", "PORT=1\nWHILLY_MAX_PARALLEL=4\nWHILLY_GH_TOKEN=ghp_hunter2\nWHILLY_VOICE=1\n")
    code, out, err = run("migrate")
    assert (code, "--yes" in err, "run.parallel = 4" in out) == (4, True, True)
    assert not (root / "whilly.toml").exists()
    code, out, _ = run("migrate", "--yes")
    assert (code, "hunter2" in out) == (0, False)
    assert "WHILLY_VOICE stays in .env" in out
    assert "No copy of a secret is left" in out
    assert memory_keyring.kept == {("whilly", "github"): "ghp_hunter2"}
    assert (root / ".env").read_text(encoding="utf-8") == "PORT=1\nWHILLY_VOICE=1\n"


def test_migrate_says_where_a_plaintext_copy_is_left(run: Run, root: Path, memory_keyring: MemoryKeyring) -> None:
    write(root, ".env", "WHILLY_GH_TOKEN=ghp_hunter2\n# ghp_hunter2\n")
    out = run("migrate", "--yes")[1]
    assert "A secret can still be read in .env:1" in out
    assert memory_keyring.kept


def test_migrate_replaces_other_values_only_by_force(run: Run, root: Path) -> None:
    write(root, ".env", "WHILLY_MAX_PARALLEL=4\n")
    write(root, "whilly.toml", "[run]\nparallel = 2\n")
    assert run("migrate", "--yes")[0] == 1
    assert run("migrate", "--yes", "--force")[0] == 0
    assert run("get", "run.parallel")[1] == "4\n"


def test_migrate_without_anything_to_do_is_done(run: Run) -> None:
    code, out, _ = run("migrate")
    assert (code, "Nothing to migrate" in out) == (0, True)
