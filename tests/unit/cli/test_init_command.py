from __future__ import annotations

import json
import subprocess
import tomllib
from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.cli.main import main
from whilly.config.layers import Loaded, Sources, combine

if TYPE_CHECKING:
    from pathlib import Path


class Run(Protocol):
    def __call__(self, *arguments: str) -> tuple[int, str, str]: ...


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the current one; git and Whilly see no settings of the user's."""
    folder = tmp_path / "grüße und $(id)"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return folder


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    assert folder.is_dir()

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["init", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def make_repository(folder: Path, branch: str = "trunk", **files: str) -> None:
    git(folder, "init", "--quiet", "--initial-branch", branch)
    for name, text in {"README": "x", **files}.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "start")


def settings_of(folder: Path) -> Loaded:
    return combine(Sources(folder, folder / "none", {}))


def test_it_writes_settings_that_can_be_loaded_and_say_what_was_detected(run: Run, folder: Path) -> None:
    make_repository(folder, "dévelop", pyproject__toml='[project]\nname = "x"\n', conftest__py="")
    code, out, err = run()
    assert (code, err) == (0, "")
    settings = settings_of(folder).settings
    assert settings.repository.base_branch == "dévelop"
    assert [(command.run, command.accept) for command in settings.profile.verify] == [
        (".venv/bin/python -m pytest -q", (0, 5))
    ]
    assert "verify: .venv/bin/python -m pytest -q" in out


def test_every_setting_that_the_file_shows_as_a_comment_is_one(run: Run, folder: Path) -> None:
    make_repository(folder)
    run()
    text = (folder / "whilly.toml").read_text(encoding="utf-8")
    shown = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ") and " = " in line]
    assert len(shown) == 10
    (folder / "whilly.toml").write_text(
        "\n".join(line.removeprefix("# ") if line.removeprefix("# ") in shown else line for line in text.splitlines()),
        encoding="utf-8",
    )
    assert settings_of(folder).settings.agent.attempt_timeout_s == 3600


def test_git_sees_whilly_toml_and_nothing_else(run: Run, folder: Path) -> None:
    make_repository(folder, __gitignore="*.pyc\n")
    run("--no-sample")
    assert git(folder, "status", "--porcelain", "--untracked-files=all") == "?? whilly.toml\n"
    assert (folder / ".whilly" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*.pyc\n"


def test_it_works_from_a_directory_below_the_root(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(folder)
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert run()[0] == 0
    assert (folder / "whilly.toml").exists()


def test_only_what_is_committed_counts(run: Run, folder: Path) -> None:
    make_repository(folder)
    (folder / "go.mod").write_text("module x\n", encoding="utf-8")
    assert "nothing recognised" in run()[1]


def test_again_it_changes_nothing_and_says_so(run: Run, folder: Path) -> None:
    make_repository(folder, go__mod="module x\n")
    run()
    before = (folder / "whilly.toml").read_bytes()
    code, out, _ = run()
    assert (code, "says so already" in out) == (0, True)
    assert (folder / "whilly.toml").read_bytes() == before


def test_an_existing_file_is_left_alone_and_the_difference_shown(run: Run, folder: Path) -> None:
    make_repository(folder, go__mod="module x\n", whilly__toml='# mine\n[profile]\nverify = ["true"]\n')
    code, out, err = run()
    assert (code, "--force" in err) == (1, True)
    assert '-verify = ["true"]' in out.splitlines()
    assert (folder / "whilly.toml").read_text(encoding="utf-8") == '# mine\n[profile]\nverify = ["true"]\n'


def test_by_force_what_was_detected_is_changed_and_the_rest_stays(run: Run, folder: Path) -> None:
    make_repository(
        folder, go__mod="module x\n", whilly__toml='# mine\n[profile]\nverify = ["true"]\n[run]\nparallel = 2\n'
    )
    assert run("--force")[0] == 0
    text = (folder / "whilly.toml").read_text(encoding="utf-8")
    assert (text.startswith("# mine\n"), tomllib.loads(text)["run"]) == (True, {"parallel": 2})
    assert tomllib.loads(text)["profile"]["verify"] == ["go build ./...", "go test ./..."]


def test_a_sample_plan_is_written_on_request_and_never_over_another(run: Run, folder: Path) -> None:
    make_repository(folder)
    run("--sample")
    assert json.loads((folder / "tasks.json").read_text(encoding="utf-8"))["tasks"]
    (folder / "tasks.json").write_text("mine", encoding="utf-8")
    assert "left as it is" in run("--sample")[1]
    assert (folder / "tasks.json").read_text(encoding="utf-8") == "mine"


def test_without_a_terminal_it_asks_nothing_and_writes_no_sample(run: Run, folder: Path) -> None:
    make_repository(folder)
    assert run()[0] == 0
    assert not (folder / "tasks.json").exists()


def test_outside_of_git_it_refuses_with_the_command_to_run(run: Run, folder: Path) -> None:
    code, _, err = run()
    assert (code, "git init" in err, names(folder)) == (4, True, [])


def test_without_a_commit_it_refuses(run: Run, folder: Path) -> None:
    git(folder, "init", "--quiet")
    code, _, err = run()
    assert (code, "git commit" in err, names(folder)) == (4, True, [".git"])


def test_a_bare_repository_is_refused(run: Run, folder: Path) -> None:
    git(folder, "init", "--quiet", "--bare")
    assert run()[0] == 4


def test_a_broken_whilly_toml_is_an_error_that_leaves_it_alone(run: Run, folder: Path) -> None:
    make_repository(folder, whilly__toml="[run\n")
    code, _, err = run("--force")
    assert (code, "whilly.toml:1: is not valid TOML" in err) == (4, True)
    assert (folder / "whilly.toml").read_text(encoding="utf-8") == "[run\n"
