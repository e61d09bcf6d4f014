from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.cli.commands import COMMANDS, Lazy
from whilly.cli.exit_codes import ExitCode
from whilly.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

BOOM = """
import click
from whilly.domain.errors import ConfigError, Unavailable

@click.command()
@click.argument("how")
def boom(how):
    match how:
        case "expected":
            raise ConfigError("it is wrong\\x1b[31m", remedy="mend it")
        case "outside":
            raise Unavailable("it is down")
        case "surprise":
            raise ZeroDivisionError("oops")
        case "interrupt":
            raise KeyboardInterrupt
        case "abort":
            raise click.Abort
        case "two":
            return 2
        case "exit":
            click.get_current_context().exit(3)
        case "text":
            click.echo("Grüße \\udcff 日本")
        case "flood":
            for _ in range(100_000):
                click.echo("line")
"""


class Run(Protocol):
    def __call__(self, *arguments: str) -> tuple[int, str, str]: ...


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in an empty directory, with one more command that fails as it is told."""
    (tmp_path / "boom_command.py").write_text(BOOM, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(COMMANDS, "boom", Lazy("boom_command:boom", "Fails."))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_an_expected_error_is_one_message_with_its_remedy_and_no_traceback(run: Run) -> None:
    assert run("boom", "expected") == (4, "", "whilly: it is wrong\\x1b[31m\n  → mend it\n")
    assert run("boom", "outside") == (4, "", "whilly: it is down\n")


def test_debug_shows_where_an_error_came_from(run: Run) -> None:
    code, _, err = run("--debug", "boom", "expected")
    assert (code, "Traceback" in err, err.endswith("→ mend it\n")) == (4, True, True)


def test_a_surprise_is_a_failure_that_says_how_to_see_more(run: Run) -> None:
    code, _, err = run("boom", "surprise")
    assert (code, "Traceback" in err) == (1, False)
    assert err.startswith("whilly: internal error: ZeroDivisionError: oops\n  → ")


@pytest.mark.parametrize("how", ["interrupt", "abort"])
def test_an_interruption_is_130(run: Run, how: str) -> None:
    assert run("boom", how)[0] == ExitCode.INTERRUPTED


@pytest.mark.parametrize(("how", "code"), [("two", 2), ("exit", 3), ("text", 0)])
def test_a_commands_result_is_the_exit_code(run: Run, how: str, code: int) -> None:
    assert run("boom", how)[0] == code


@pytest.mark.parametrize("arguments", [("boom",), ("boom", "a", "b"), ("boom", "--nonsense"), ("--nonsense",)])
def test_a_wrong_use_is_4_with_the_usage(run: Run, arguments: tuple[str, ...]) -> None:
    code, _, err = run(*arguments)
    assert (code, err.startswith("Usage: whilly")) == (4, True)


def test_an_unknown_command_names_the_nearest(run: Run) -> None:
    assert "Did you mean `whilly config`?" in run("confg")[2]
    assert "See `whilly --help`." in run("zzzzzz")[2]


def test_help_and_no_arguments_list_the_commands(run: Run) -> None:
    for arguments in (("--help",), ("-h",), ()):
        code, out, _ = run(*arguments)
        assert (code, "Show, edit and migrate settings." in out) == (0, True)


def test_help_imports_nothing_heavy() -> None:
    heavy = {"pydantic", "sqlalchemy", "dbos", "rich", "keyring", "tomlkit", "whilly.bootstrap", "whilly.config.layers"}
    code = f"import sys; from whilly.cli.main import main; main(['--help']); sys.exit(str({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "set()\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_can_be_loaded_and_shows_its_help(run: Run, name: str) -> None:
    code, out, _ = run(name, "--help")
    assert (code, out.startswith(f"Usage: whilly {name}")) == (0, True)


def test_the_version_is_shown(run: Run) -> None:
    code, out, _ = run("--version")
    assert (code, out.startswith("whilly 0.")) == (0, True)


def test_another_directory_can_be_worked_in(run: Run, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "whilly.toml").write_text("[run]\nparallel = 9\n", encoding="utf-8")
    assert run("-C", "there", "config", "get", "run.parallel")[:2] == (0, "9\n")


def test_a_directory_that_is_not_there_is_a_wrong_use(run: Run) -> None:
    assert run("-C", "nowhere", "config", "path")[0] == 4


def test_a_command_line_of_the_predecessor_is_understood_or_answered(run: Run) -> None:
    code, out, _ = run("--config", "path")
    assert (code, out.endswith("config.toml\n")) == (0, True)
    code, _, err = run("--source", "gh:o/r")
    assert (code, "--source was a flag of the predecessor" in err, "whilly run PLAN" in err) == (4, True, True)
    assert "--no-workspace has no effect" in run("plan.json", "--no-workspace")[2]


def spawn(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    (tmp_path / "boom_command.py").write_text(BOOM, encoding="utf-8")
    code = (
        "import sys\n"
        "from whilly.cli.commands import COMMANDS, Lazy\n"
        "from whilly.cli.main import main\n"
        "COMMANDS['boom'] = Lazy('boom_command:boom', '')\n"
        "sys.exit(main())\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path), **environment},
    )


def test_a_reader_that_goes_away_ends_the_command_without_a_complaint(tmp_path: Path) -> None:
    with spawn(tmp_path, "boom", "flood") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", ExitCode.BROKEN_PIPE)


def test_output_is_utf_8_whatever_the_locale_and_survives_broken_text(tmp_path: Path) -> None:
    with spawn(tmp_path, "boom", "text", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") as process:
        out, err = process.communicate()
    assert (out.decode("utf-8"), err, process.returncode) == ("Grüße \\udcff 日本\n", b"", 0)


def test_a_shell_can_complete_commands(tmp_path: Path) -> None:
    with spawn(tmp_path, _WHILLY_COMPLETE="bash_complete", COMP_WORDS="whilly con", COMP_CWORD="1") as process:
        assert process.communicate() == (b"plain,config\n", b"")
