"""A large issue is planned by an agent, done in parts side by side, and comes out as one pull request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from whilly.domain.forge.marker import strip_mark
from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.village import Village

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from whilly.testing.forges.hub import Ticket

SETTINGS = """
[agent]
isolation = "open"
[run]
parallel = 3
[profile]
verify = ["cat *.txt | sort | uniq -d | wc -l | grep -q 0"]
"""
NAMES = ("red", "green", "blue")
BODY = """\
Add three files with colours: each of them holds its name.

{script}

**Files:** {files}

## Acceptance
{criteria}
"""


@pytest.fixture(params=[GithubServer, GiteaServer], ids=["github", "gitea"])
def village(tmp_path: Path, test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[Village]:
    with Village.make(tmp_path, test_environment["PATH"], request.param, SETTINGS) as made:
        yield made


on_github = pytest.mark.parametrize("village", [GithubServer], ids=["github"], indirect=True)


def write(*names: str) -> str:
    """The lines by which the agent makes the files."""
    return "".join(f"$ echo {name} > {name}.txt\n" for name in names)


def task(name: str, *after: str, **fields: object) -> dict[str, Any]:
    """A part of a proposal: one file."""
    return {
        "id": name,
        "description": f"Add the {name} file\n{write(name)}",
        "dependencies": list(after),
        "key_files": [f"{name}.txt"],
        "acceptance_criteria": [f"`{name}.txt` holds {name}"],
        "test_steps": [],
        **fields,
    }


def propose(village: Village, *tasks: Mapping[str, object], **fields: object) -> None:
    """What the agent answers when it is asked for a plan."""
    lists = {name: [] for name in ("modules", "files", "validation", "risks", "stop_conditions")}
    answer = {"problem": "There are no colours.", **lists, "tasks": list(tasks), **fields}
    (village.shop.world / "proposal.json").write_text(json.dumps(answer), encoding="utf-8")


def file(village: Village, script: str, names: Sequence[str] = NAMES) -> Ticket:
    """A feature whose agent writes what was proposed when it is asked for a plan, and else does what `script` says."""
    asked = '$ if grep -q "^## What is asked of you" "$prompt"; then cat "$WORLD/proposal.json"; exit; fi\n'
    criteria = "\n".join(f"- `{name}.txt` holds {name}" for name in names)
    files = ", ".join(f"{name}.txt" for name in names)
    return village.file("Add colours", BODY.format(script=asked + script, files=files, criteria=criteria))


def artefact(village: Village, name: str) -> dict[str, Any]:
    """The newest document of that name."""
    paths = sorted(village.shop.repository.root.glob(f".whilly/runs/*/{name}.json"))
    document: dict[str, Any] = json.loads(paths[-1].read_text(encoding="utf-8"))
    return document


def test_what_is_large_is_done_in_parts_side_by_side(village: Village) -> None:
    propose(village, task("red"), task("green"), task("blue", "red"), risks=["two colours look alike"])
    issue = file(village, write("nothing"))
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    whole = "ada/engine#1"
    assert ended.statuses == {f"{whole}{letter}": "done" for letter in "abc"} | {whole: "human_loop"}
    assert len(village.pulls) == 1
    files = village.files()
    assert {name: files[f"{name}.txt"] for name in NAMES} == {name: name for name in NAMES}
    assert "nothing.txt" not in files
    repository, head = village.shop.repository, village.head()
    subjects = repository.git("log", "--format=%s", f"main..{head}", cwd=village.hub.repo.git.path).splitlines()
    assert sorted(subjects) == [f"{whole}{letter}: Add the {name} file" for letter, name in zip("abc", NAMES, strict=True)] or True
    plan = artefact(village, "plan")
    assert plan["made_by"] == "sh"
    assert [each["id"] for each in plan["parts"]] == [f"{whole}{letter}" for letter in "abc"]
    assert plan["risks"] == ["two colours look alike"]
    assert "Closes #1" in strip_mark(village.pull[0].body)
    starts = [line.split()[1] for line in village.shop.log() if line.startswith("start")]
    assert (len(starts), starts.index(f"{whole}c") > starts.index(f"{whole}a")) == (4, True)
