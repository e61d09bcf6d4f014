"""A file in `.whilly/pipelines/` that is no pipeline is refused before anything begins, with all that is wrong."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from whilly.config.pipelines import load_pipelines
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

FORGE = (files("whilly.application") / "pipelines" / "forge.toml").read_text(encoding="utf-8")
SOLO = (files("whilly.application") / "pipelines" / "solo.toml").read_text(encoding="utf-8")

OF_FORGE = (
    "verify, integrate, intake, normalize, readiness, challenge, weigh, strategy, plan, parts, gather, "
    "publish, feedback, rebase"
)


def refuse(tmp_path: Path, data: str | bytes) -> tuple[list[str], str]:
    """The lines of the refusal, and its remedy."""
    path = tmp_path / "pipelines" / "own.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(ConfigError) as caught:
        load_pipelines(tmp_path, max_attempts=3)
    return [line.strip().replace(str(path), "FILE") for line in caught.value.message.splitlines()], caught.value.remedy


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            change(FORGE, 'action = "gather"', 'action = "gathr"'),
            f"stage 'gather': unknown action 'gathr'; did you mean gather? the actions of 'forge' are {OF_FORGE}",
        ),
        (
            change(SOLO, 'action = "verify"', 'action = "deliver"'),
            "stage 'verify': unknown action 'deliver'; the actions of 'solo' are verify, integrate",
        ),
        (
            change(SOLO, 'action = "verify"', 'action = "handoff"'),
            "stage 'verify': unknown action 'handoff'; the actions of 'solo' are verify, integrate",
        ),
        (
            change(FORGE, 'next = "execute"\nbranch.parts', 'next = "execute"\nbranch.partz'),
            "stage 'plan': action 'plan' has no branch 'partz'; did you mean parts? it has parts",
        ),
        (
            change(FORGE, "branch.anew", "branch.opinion"),
            "stage 'gather': action 'gather' has no branch 'opinion'; it has anew",
        ),
        (
            change(SOLO, 'next = "verify"', 'next = "verify"\nbranch.parts = "verify"'),
            "stage 'execute': an agent has no branch 'parts'; it has none",
        ),
    ],
)
def test_what_no_action_does_is_told_with_what_there_is(tmp_path: Path, text: str, told: str) -> None:
    assert refuse(tmp_path, text) == (
        ["FILE is not a pipeline:", told],
        f"correct {tmp_path / 'pipelines' / 'own.toml'}",
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'prompt = "execute"',
            'prompt = "exekute"',
            "'exekute' names no template; did you mean execute? there are add",
        ),
        ('prompt = "execute"', 'prompt = "./execute"', "prompt './execute' names no template; did you mean execute?"),
        ('prompt = "execute"', 'prompt = "../prompts/own"', "prompt '../prompts/own' names no template"),
        ('prompt = "execute"\n', "", "`prompt` is missing: an agent has to be told what to do"),
    ],
)
def test_an_agent_has_a_prompt_that_is_there(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "own.md.j2").write_text("Do it.", encoding="utf-8")
    (head, problem), _ = refuse(tmp_path, change(SOLO, old, new))
    assert head == "FILE is not a pipeline:"
    assert problem.startswith("stage 'execute': ")
    assert told in problem


def test_a_prompt_of_the_repository_is_there(tmp_path: Path) -> None:
    for name, text in {"prompts/own.md.j2": "Do it.", "pipelines/own.toml": change(SOLO, "repair", "own")}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pipelines" / "own.toml").write_text(change(SOLO, 'prompt = "repair"', 'prompt = "own"'), "utf-8")
    assert load_pipelines(tmp_path, max_attempts=3)["solo"].stages["repair"].prompt == "own"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "solo"', "name = 3", "name must be a text, not 3"),
        ('name = "solo"', "", "`name` is missing"),
        ('"repair", limit = 3', '"repair", limit = "2"', "verify.on.rejected.limit must be a whole number, not '2'"),
        ('"repair", limit = 3', '"repair", limit = true', "verify.on.rejected.limit must be a whole number, not true"),
        ("renews = true", 'renews = "yes"', "stages.resolve.renews must be true or false, not 'yes'"),
        ("renews = true", "renews = 1", "stages.resolve.renews must be true or false, not 1"),
        ("resumes = true", "integrates = []", "stages.execute.integrates must be true or false, not []"),
        ("attempts = 2", "attempts = 1.5", "stages.repair.attempts must be a whole number, not 1.5"),
        ("resumes = true", 'branch = "x"', "stages.execute.branch must be a table, not 'x'"),
        ("resumes = true", "answer = 1", "stages.execute.answer must be a text, not 1"),
        ("resumes = true", 'on = "x"', "stages.execute.on must be a table, not 'x'"),
        ("resumes = true", "on = { crashed = 1 }", "stages.execute.on.crashed must be a table, not 1"),
        ('"repair", limit = 3 }', '"repair", limit = 3, then = 1 }', "verify.on.rejected.then must be a text, not 1"),
    ],
)
def test_a_value_of_another_kind_is_told_with_what_is_wanted(tmp_path: Path, old: str, new: str, told: str) -> None:
    lines, _ = refuse(tmp_path, change(SOLO, old, new))
    assert lines[1].endswith(told)


def test_stages_that_are_none_are_told(tmp_path: Path) -> None:
    lines, _ = refuse(tmp_path, 'name = "solo"\nfirst = "a"\nstages.a = "b"\n')
    assert "stages.a must be a table, not 'b'" in lines
    lines, _ = refuse(tmp_path, 'name = "solo"\nfirst = "a"\nstages = 3\n')
    assert lines[1:] == ["stages must be a table, not 3", "first stage 'a' does not exist"]


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = change(change(SOLO, "renews = true", "renew = true"), 'action = "verify"', 'action = "verfy"')
    lines, _ = refuse(tmp_path, text)
    assert [line.partition(";")[0] for line in lines[1:]] == [
        "unknown key stages.resolve.renew",
        "stage 'verify': unknown action 'verfy'",
    ]


@pytest.mark.parametrize(
    ("data", "why", "remedy"),
    [
        (b"name = '\xff'", "is not a pipeline: it is not UTF-8 text (byte 9)", "save {path} as UTF-8, or remove it"),
        (b"name", "is not a pipeline: it is not valid TOML: ", "correct {path}"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes, why: str, remedy: str) -> None:
    (line,), said = refuse(tmp_path, data)
    assert line.startswith(f"FILE {why}")
    assert said == remedy.format(path=tmp_path / "pipelines" / "own.toml")


def test_a_folder_that_is_called_like_a_pipeline_is_named(tmp_path: Path) -> None:
    (tmp_path / "pipelines" / "own.toml").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"own\.toml cannot be read: Is a directory"):
        load_pipelines(tmp_path, max_attempts=3)
