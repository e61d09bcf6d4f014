from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from whilly.config.edit import write_atomically
from whilly.config.layers import Loaded, Sources, combine
from whilly.config.migrate import MigrationPlan, migrate_settings, plan_migration, read_files
from whilly.config.secrets import ReferencedSecrets
from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret
from whilly.testing.keyring import MemoryKeyring

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOTENV = """\
# my app
PORT=8080
WHILLY_MAX_PARALLEL=9

WHILLY_MODEL="opus" # the big one
export WHILLY_GH_TOKEN=ghp_12345678
JIRA_API_TOKEN='jira_87654321'
WHILLY_BUDGET_USD=2.5
"""
LEFT = "# my app\nPORT=8080\n"


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def secrets(keyring: MemoryKeyring) -> ReferencedSecrets:
    return ReferencedSecrets({}, keyring=lambda: keyring)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".env").write_text(DOTENV, encoding="utf-8")
    (tmp_path / "whilly.toml").write_text("# comment\n[run]\ntimeout_s = 60 # a minute\n", encoding="utf-8")
    return tmp_path


def plan_for(root: Path) -> MigrationPlan:
    dotenv, toml, others = read_files(root)
    return plan_migration(dotenv or "", toml, others)


def settings_of(root: Path) -> Loaded:
    return combine(Sources(root, root / "none.toml", {}))


def snapshot(root: Path, keyring: MemoryKeyring) -> tuple[dict[str, bytes], dict[tuple[str, str], str]]:
    return {path.name: path.read_bytes() for path in sorted(root.iterdir())}, dict(keyring.kept)


def test_settings_mean_the_same_before_and_after(
    root: Path, keyring: MemoryKeyring, secrets: ReferencedSecrets
) -> None:
    before = settings_of(root).settings
    migrate_settings(plan_for(root), root, secrets)
    after = settings_of(root)
    assert (after.settings.run, after.settings.agent) == (before.run, before.agent)
    assert after.warnings == ()
    assert (after.settings.github.token, after.settings.jira.token) == ("keyring:whilly/github", "keyring:whilly/jira")
    assert keyring.kept == {("whilly", "github"): "ghp_12345678", ("whilly", "jira"): "jira_87654321"}


def test_everything_else_in_both_files_stays_as_it_was(root: Path, secrets: ReferencedSecrets) -> None:
    migrate_settings(plan_for(root), root, secrets)
    assert (root / ".env").read_text(encoding="utf-8") == LEFT
    assert (
        (root / "whilly.toml").read_text(encoding="utf-8").startswith("# comment\n[run]\ntimeout_s = 60 # a minute\n")
    )


def test_a_second_migration_has_nothing_to_do(root: Path, secrets: ReferencedSecrets) -> None:
    migrate_settings(plan_for(root), root, secrets)
    assert plan_for(root).moves == ()


def test_without_whilly_toml_it_is_made(root: Path, secrets: ReferencedSecrets) -> None:
    (root / "whilly.toml").unlink()
    migrate_settings(plan_for(root), root, secrets)
    assert settings_of(root).settings.run.parallel == 9


def test_what_cannot_be_carried_is_named_with_the_reason_and_stays() -> None:
    plan = plan_migration("WHILLY_VOICE=1\nWHILLY_TIMEOUT=soon\nWHILLY_MODLE=x\nAPP=1\n", None, {})
    assert plan.moves == ()
    assert dict(plan.kept) == {
        "WHILLY_VOICE": "has no effect: this version does not have it",
        "WHILLY_TIMEOUT": 'expected a number, 0 or more, got "soon"',
        "WHILLY_MODLE": "is no setting; did you mean WHILLY_MODEL?",
    }
    assert plan.dotenv_after == plan.dotenv_before


def test_a_different_value_in_whilly_toml_is_a_conflict_and_the_same_is_none() -> None:
    toml = '[run]\nparallel = 5\n[agent]\nmodel = "opus"\n[github]\ntoken = "env:WHILLY_GH_TOKEN"\n'
    plan = plan_migration(DOTENV, toml, {})
    assert [(move.name, move.replaces) for move in plan.conflicts] == [("WHILLY_MAX_PARALLEL", "5")]


def test_of_two_names_for_one_setting_the_loser_stays_when_it_says_something_else() -> None:
    plan = plan_migration(
        "GITHUB_TOKEN=one1\nWHILLY_GH_TOKEN=two2\nWHILLY_TIMEOUT=5\nWHILLY_RUN__TIMEOUT_S=5\n", None, {}
    )
    assert plan.kept == {"GITHUB_TOKEN": "WHILLY_GH_TOKEN says something else and wins"}
    assert plan.dotenv_after == "GITHUB_TOKEN=one1\n"
    assert [move.secret for move in plan.moves if move.secret] == [Secret("two2")]


def test_a_token_that_lost_once_does_not_win_the_second_time() -> None:
    first = plan_migration("GITHUB_TOKEN=one1\nWHILLY_GH_TOKEN=two2\n", None, {})
    second = plan_migration(first.dotenv_after, first.toml_after, {})
    assert (second.moves, list(second.kept)) == ((), ["GITHUB_TOKEN"])


def test_of_two_lines_with_one_name_the_last_counts_and_both_go() -> None:
    plan = plan_migration("WHILLY_TIMEOUT=5\nA=1\nWHILLY_TIMEOUT=6\n", None, {})
    assert ([move.value for move in plan.moves], plan.dotenv_after) == ([6.0], "A=1\n")


def test_a_reference_moves_as_it_is() -> None:
    (move,) = plan_migration("WHILLY_GH_TOKEN=keyring:other/me\n", None, {}).moves
    assert (move.value, move.secret) == ("keyring:other/me", None)


def test_every_plaintext_copy_that_is_left_is_named(root: Path) -> None:
    (root / ".env").write_text(DOTENV + "# was ghp_12345678\n", encoding="utf-8")
    (root / ".env.bak").write_bytes(b"\xff\nA=xjira_87654321x\n")
    assert plan_for(root).plaintext == (".env:3", ".env.bak:2")


def test_no_secret_is_shown_by_the_plan() -> None:
    plan = plan_migration(DOTENV, None, {})
    assert "ghp_12345678" not in repr(plan.moves)
    assert "ghp_12345678" not in plan.toml_after


def test_windows_line_ends_and_text_of_any_language_survive() -> None:
    plan = plan_migration("NAME=Grüße\r\nWHILLY_TIMEOUT=5\r\nX='日本'\r\n", None, {})
    assert plan.dotenv_after == "NAME=Grüße\r\nX='日本'\r\n"


class PowerCutError(BaseException):
    """Not even an `Exception`, as Ctrl-C is not."""


def fail_at(step: int, error: BaseException) -> Callable[[Path, str], None]:
    """Writes files, but fails at the given write, the first being 1."""
    count = 0

    def write(path: Path, text: str) -> None:
        nonlocal count
        count += 1
        if count == step:
            raise error
        write_atomically(path, text)

    return write


@pytest.mark.parametrize("error", [ConfigError("disk full"), PowerCutError()], ids=["error", "interrupt"])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("has_toml", [True, False])
def test_a_failure_half_way_leaves_everything_as_it_was(
    root: Path, keyring: MemoryKeyring, secrets: ReferencedSecrets, error: BaseException, step: int, *, has_toml: bool
) -> None:
    keyring.set_password("whilly", "jira", "the old one")
    if not has_toml:
        (root / "whilly.toml").unlink()
    before = snapshot(root, keyring)
    with pytest.raises(type(error)):
        migrate_settings(plan_for(root), root, secrets, fail_at(step, error))
    assert snapshot(root, keyring) == before


@pytest.mark.parametrize("fault", ["is_locked", "is_forgetful"])
def test_a_keyring_that_does_not_keep_secrets_stops_it_before_any_file_changes(
    root: Path, keyring: MemoryKeyring, secrets: ReferencedSecrets, fault: str
) -> None:
    setattr(keyring, fault, True)
    before = snapshot(root, keyring)
    with pytest.raises(ConfigError):
        migrate_settings(plan_for(root), root, secrets)
    assert snapshot(root, keyring) == before


def test_a_file_that_changed_after_the_preview_stops_it(
    root: Path, keyring: MemoryKeyring, secrets: ReferencedSecrets
) -> None:
    plan = plan_for(root)
    (root / ".env").write_text("OTHER=1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="changed since the preview"):
        migrate_settings(plan, root, secrets)
    assert keyring.kept == {}


KILLED_WRITE = """
import os, sys
from pathlib import Path
from whilly.config.edit import write_atomically
from whilly.config.migrate import migrate_settings, plan_migration, read_files
from whilly.config.secrets import ReferencedSecrets
from whilly.testing.keyring import MemoryKeyring

root, step, keyring, count = Path(sys.argv[1]), int(sys.argv[2]), MemoryKeyring(), 0

def write(path, text):
    global count
    count += 1
    if count == step:
        os._exit(9)
    write_atomically(path, text)

dotenv, toml, others = read_files(root)
migrate_settings(plan_migration(dotenv, toml, others), root, ReferencedSecrets({}, keyring=lambda: keyring), write)
"""


@pytest.mark.parametrize("step", [1, 2])
def test_killed_at_any_write_the_settings_mean_the_same_and_a_second_try_completes_it(
    root: Path, secrets: ReferencedSecrets, step: int
) -> None:
    before = settings_of(root).settings
    died = subprocess.run([sys.executable, "-c", KILLED_WRITE, root, str(step)], check=False)
    assert died.returncode == 9
    assert (settings_of(root).settings.run, (root / ".env").read_text(encoding="utf-8")) == (before.run, DOTENV)
    migrate_settings(plan_for(root), root, secrets)
    assert settings_of(root).settings.run == before.run
    assert (root / ".env").read_text(encoding="utf-8") == LEFT
