"""A large issue is planned by an agent, done in parts side by side, and comes out as one pull request."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from whilly.domain.forge.marker import strip_mark
from whilly.ports.checkpoint import FORGE_UNITS
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
verify = ["! grep -q wrong *.txt"]
[pull_request]
proofs = "off"
"""
ASKED = "\n## What is asked of you\n"
POLISH = """\
whilly-item: {{ facts }}
# Task {{ item.id }}
$ echo {{ item.id }} > polished.txt
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
    lists: dict[str, list[str]] = {name: [] for name in ("modules", "files", "validation", "risks", "stop_conditions")}
    answer = {"problem": "There are no colours.", **lists, "tasks": list(tasks), **fields}
    (village.shop.world / "proposal.json").write_text(json.dumps(answer), encoding="utf-8")


def file(village: Village, script: str, names: Sequence[str] = NAMES) -> Ticket:
    """A feature whose agent writes what was proposed when it is asked for a plan, and else does what `script` says."""
    asked = '$ if grep -q "^## What is asked of you" "$prompt"; then cat "$WORLD/proposal.json"; exit; fi\n'
    criteria = "\n".join(f"- `{name}.txt` holds {name}" for name in names)
    claims = ", ".join(f"{name}.txt" for name in names)
    return village.file("Add colours", BODY.format(script=asked + script, files=claims, criteria=criteria))


def artefact(village: Village, name: str) -> dict[str, Any]:
    """The newest document of that name."""
    paths = sorted(village.shop.repository.root.glob(f".whilly/runs/*/{name}.json"))
    document: dict[str, Any] = json.loads(paths[-1].read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize("parallel", ["1", "3"])
def test_what_is_large_is_done_in_parts_side_by_side(village: Village, parallel: str) -> None:
    # Those that may be at work together wait for each other.
    meet = "$ touch $WORLD/{} && until [ -e $WORLD/{} ]; do sleep 0.02; done\n" if parallel == "3" else ""
    red, green = (f"Add the {a} file\n{meet.format(a, b)}{write(a)}" for a, b in (("red", "green"), ("green", "red")))
    tasks = (task("red", description=red), task("green", description=green), task("blue", "red"))
    propose(village, *tasks, risks=["two colours look alike"])
    issue = file(village, write("nothing"))
    ended = village.forge(issue, "--parallel", parallel)
    assert ended.code == 0, ended.out + ended.err
    whole = "ada/engine#1"
    assert ended.statuses == {f"{whole}{letter}": "done" for letter in "abc"} | {whole: "human_loop"}
    assert len(village.pulls) == 1
    held = village.files()
    assert "→ whilly forge ada/engine#1 looks again" in village.start("why", "ada/engine#1").wait().out
    assert {name: held[f"{name}.txt"] for name in NAMES} == {name: name for name in NAMES}
    assert "nothing.txt" not in held
    repository, head = village.shop.repository, village.head()
    subjects = repository.git("log", "--format=%s", f"main..{head}", cwd=village.hub.repo.git.path).splitlines()
    assert sorted(subjects) == [
        f"{whole}{letter}: Add the {name} file" for letter, name in zip("abc", NAMES, strict=True)
    ]
    plan = artefact(village, "plan")
    assert plan["made_by"] == "sh"
    assert [each["id"] for each in plan["parts"]] == [f"{whole}{letter}" for letter in "abc"]
    assert plan["risks"] == ["two colours look alike"]
    body = strip_mark(village.pull[0].body)
    lines = ["Closes #1", "- `red.txt`", f"- `{whole}b`: Add the green file", "- two colours look alike"]
    assert [line for line in lines if line not in body] == []
    told = village.start("timeline", whole).wait().out
    assert f"{whole}b: verification passed" in told
    assert told.index("plan generated") < told.index(f"{whole}a: task started") < told.index("pr created")
    starts = [line.split()[1] for line in village.shop.log() if line.startswith("start")]
    assert (len(starts), starts.index(f"{whole}c") > starts.index(f"{whole}a")) == (4, True)


def asked(village: Village) -> list[str]:
    """The prompts of those who were asked for a plan."""
    return [each for each in village.prompts() if ASKED in each]


@on_github
def test_a_proposal_with_faults_goes_back_and_in_the_end_the_rules_plan(village: Village) -> None:
    propose(village, task("red"), task("green", "red", key_files=["secret.txt"]))
    issue = file(village, write(*NAMES))
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    held = village.files()
    assert {name: held[f"{name}.txt"] for name in NAMES} == {name: name for name in NAMES}
    faults = ["secret.txt` in key_files of task green is outside", "“`blue.txt` holds blue” of ada/engine#1 is in none"]
    again = [prompt for prompt in asked(village) if "## Your last answer cannot be used" in prompt]
    assert (len(asked(village)), len(again)) == (3, 2)
    assert all(fault in prompt for fault in faults for prompt in again)
    plan = artefact(village, "plan")
    assert (plan["made_by"], plan["parts"]) == ("rules", [])
    assert all(fault in plan["notes"][0] for fault in faults)
    assert plan["files"] == ["red.txt", "green.txt", "blue.txt"]
    assert plan["validation"][1:] == [f"`{name}.txt` holds {name}" for name in NAMES]


@on_github
def test_what_is_no_answer_at_all_holds_nothing_up(village: Village) -> None:
    (village.shop.world / "proposal.json").write_text("I would rather talk about it.", encoding="utf-8")
    ended = village.forge(file(village, write(*NAMES)))
    assert ended.code == 0, ended.out + ended.err
    assert village.files()["blue.txt"] == "blue"
    assert artefact(village, "plan")["notes"] == ["it is no JSON"]


@on_github
def test_what_one_can_do_alone_is_planned_and_what_the_planner_left_is_not_kept(village: Village) -> None:
    propose(village, files=["red.txt"], validation=["each name is there"], problem="Colours are missing.")
    script = '$ if grep -q "^## What is asked of you" "$prompt"; then touch left; fi\n'
    issue = village.file(
        "Add colours",
        BODY.format(
            script=script + '$ if grep -q "^## What is asked" "$prompt"; then cat "$WORLD/proposal.json"; exit; fi\n'
            f"{write(*NAMES)}$ ls > listed.txt\n",
            files="red.txt, green.txt, blue.txt, listed.txt",
            criteria="- `red.txt` holds red",
        ),
    )
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert "left" not in village.files()["listed.txt"].split()
    (working,) = [prompt for prompt in village.prompts() if ASKED not in prompt]
    assert "The plan that was made of it:\nColours are missing." in working
    assert "- each name is there" in working.partition(">>>")[0]
    message = village.shop.repository.git("log", "-1", "--format=%B", village.head(), cwd=village.hub.repo.git.path)
    assert ("Add three files" in message, "The plan" in message) == (True, False)
    assert not list(village.shop.repository.root.glob(".whilly/worktrees/*-asked"))


@on_github
@pytest.mark.parametrize(
    ("lines", "sessions", "made_by"),
    [('plan = "never"', 1, "rules"), ("max_parts = 0", 4, "rules")],
    ids=["never", "in-one"],
)
def test_the_settings_say_whether_it_is_planned_and_divided(
    village: Village, lines: str, sessions: int, made_by: str
) -> None:
    village.settings += f"\n[issues]\n{lines}\n"
    village.configure()
    propose(village, *map(task, NAMES))
    ended = village.forge(file(village, write(*NAMES)))
    assert ended.code == 0, ended.out + ended.err
    assert (len(village.prompts()), artefact(village, "plan")["made_by"]) == (sessions, made_by)
    assert village.files()["red.txt"] == "red"


@on_github
def test_always_asks_for_a_plan_of_a_fault_as_well(village: Village) -> None:
    village.settings += '\n[issues]\nplan = "always"\n'
    village.configure()
    propose(village, problem="It is wrong.")
    body = BODY.replace("Add three files with colours", "The colours are wrong").format(
        script='$ if grep -q "^## What is asked" "$prompt"; then cat "$WORLD/proposal.json"; exit; fi\n' + write("red"),
        files="red.txt",
        criteria="- `red.txt` holds red",
    )
    ended = village.forge(village.file("Bug: the colours are wrong", body))
    assert ended.code == 0, ended.out + ended.err
    assert (len(asked(village)), artefact(village, "plan")["problem"]) == (1, "It is wrong.")


@on_github
def test_a_part_that_fails_is_tried_again_with_the_issue(village: Village) -> None:
    broken = task("green", description='Add the green file\n$ [ -e "$WORLD/go" ] || exit 1\n' + write("green"))
    propose(village, task("red"), broken, task("blue", "green"))
    issue = file(village, write("nothing"))
    ended = village.forge(issue)
    assert ended.code == 1, ended.out + ended.err
    assert ended.statuses == {
        "ada/engine#1": "human_loop",
        "ada/engine#1a": "done",
        "ada/engine#1b": "failed",
        "ada/engine#1c": "blocked",
    }
    assert village.pulls == []
    said = village.start("why", "ada/engine#1").wait().out
    assert "1 of 3 parts are done; ada/engine#1b has failed" in said
    assert "whilly forge ada/engine#1 tries them again" in said
    village.shop.let_go()
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert {name: village.files()[f"{name}.txt"] for name in NAMES} == {name: name for name in NAMES}
    assert (len(asked(village)), len(village.pulls)) == (1, 1)


@on_github
def test_what_comes_after_the_parts_builds_on_them(village: Village) -> None:
    propose(village, *map(task, NAMES))
    script = """\
$ case "$round" in
$ repair) ls > seen.txt;;
$ *) echo later >> blue.txt;;
$ esac
"""
    issue = file(village, script)
    assert village.forge(issue).code == 0
    first = village.head()
    village.hub.add_check(village.hub.repo, first, "test", "failed", "E   AssertionError: not seen\n1 failed")
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert {"red.txt", "green.txt", "blue.txt"} <= set(village.files()["seen.txt"].split())
    assert len(village.pulls) == 1


@on_github
def test_an_issue_that_is_edited_while_its_parts_are_done_is_done_to_its_end(village: Village) -> None:
    propose(village, *map(task, NAMES))
    issue = file(village, "$ cat red.txt green.txt blue.txt > all.txt\n")
    running = village.start("forge", village.name(issue))
    village.shop.wait_for(lambda: [line for line in village.shop.log() if line.startswith("end ada/engine#1a")])
    issue.body += "\n- `all.txt` holds them all\n"
    ended = running.wait(120)
    assert ended.code == 0, ended.out + ended.err
    assert village.files()["all.txt"] == "red\ngreen\nblue"
    assert len(asked(village)) == 1


@on_github
def test_who_cancels_the_issue_cancels_its_parts(village: Village) -> None:
    slow = task("red", description='Add the red file\n$ until [ -e "$WORLD/go" ]; do sleep 0.02; done\n')
    propose(village, slow, task("green", "red"), task("blue", "green"))
    issue = file(village, write("nothing"))
    running = village.start("forge", village.name(issue))
    village.shop.wait_for(lambda: "start ada/engine#1a execute" in village.shop.log())
    assert village.start("cancel", "ada/engine#1").wait().code == 0
    ended = running.wait(60)
    assert set(ended.statuses.values()) == {"skipped"}, ended.out + ended.err
    assert village.pulls == []


@on_github
@pytest.mark.parametrize(
    "point",
    [*(f"{unit}:{at}" for unit in FORGE_UNITS for at in ("before", "inside", "after")), "advance:after", "save:before"],
)
def test_killed_in_between_no_part_is_lost_or_done_twice(village: Village, point: str) -> None:
    propose(village, *map(task, NAMES))
    issue = file(village, write("nothing"))
    village.die(point, issue)
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    repository, git = village.shop.repository, village.hub.repo.git.path
    subjects = repository.git("log", "--format=%s", f"main..{village.head()}", cwd=git).splitlines()
    assert sorted(subjects) == [f"ada/engine#1{a}: Add the {n} file" for a, n in zip("abc", NAMES, strict=True)]
    assert len(village.pulls) == 1


@on_github
def test_a_repository_replaces_the_pipeline_and_its_prompts(village: Village) -> None:
    packaged = (files("whilly.application") / "pipelines" / "forge.toml").read_text(encoding="utf-8")
    before, _, rest = packaged.replace('next = "challenge"', 'next = "strategy"', 1).partition("[stages.challenge]\n")
    own = before + "".join(rest.partition("[stages.strategy]\n")[1:])
    own = own.replace('prompt = "execute"\nnext = "verify"', 'prompt = "execute"\nnext = "polish"', 1)
    own += '\n[stages.polish]\nrole = "editor"\nprompt = "polish"\nnext = "verify"\n'
    state = village.shop.repository.root / ".whilly"
    for name, text in {"pipelines/forge.toml": own, "prompts/polish.md.j2": POLISH}.items():
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text(text, encoding="utf-8")
    propose(village)
    ended = village.forge(file(village, write(*NAMES)))
    assert ended.code == 0, ended.out + ended.err
    assert village.files()["polished.txt"] == "ada/engine#1"
    stages = [each["stage"] for each in ended.objects("attempt_started")]
    assert ("challenge" in stages, stages.index("polish") - stages.index("execute")) == (False, 1)

    (state / "pipelines" / "forge.toml").write_text(own.replace('next = "strategy"', 'next = "stratgy"'), "utf-8")
    refused = village.forge(file(village, write(*NAMES)))
    assert (refused.code, "Traceback" in refused.err) == (4, False)
    assert "stage 'readiness': next leads to unknown 'stratgy'" in refused.err


def wait_for(name: str) -> str:
    """A description whose agent waits until the test lets it go on."""
    return f'Add the {name} file\n$ until [ -e "$WORLD/go" ]; do sleep 0.02; done\n' + write(name)


def fail(name: str) -> str:
    """A description whose agent fails until the test lets it work."""
    return f'Add the {name} file\n$ [ -e "$WORLD/go" ] || exit 1\n' + write(name)


def count(village: Village, item: str) -> int:
    """How many sessions agents have had for an item."""
    return sum(line.startswith(f"start {item} ") for line in village.shop.log())


@on_github
def test_who_stops_the_issue_stops_its_parts_and_none_begins(village: Village) -> None:
    propose(village, task("red", description=wait_for("red")), task("green", "red"), task("blue", "red"))
    issue = file(village, write("nothing"))
    running = village.start("forge", village.name(issue))
    village.shop.wait_for(lambda: count(village, "ada/engine#1a"))
    assert village.start("stop", "ada/engine#1").wait().code == 0
    ended = running.wait(60)
    assert (ended.code, set(ended.statuses.values())) == (1, {"human_loop"}), ended.out + ended.err
    assert (village.pulls, count(village, "ada/engine#1b")) == ([], 0)
    village.shop.let_go()
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert {name: village.files()[f"{name}.txt"] for name in NAMES} == {name: name for name in NAMES}


@on_github
def test_a_cancelled_part_is_left_out_and_the_pull_request_says_so(village: Village) -> None:
    propose(village, task("red"), task("green", description=fail("green")), task("blue"))
    issue = file(village, write("nothing"))
    assert village.forge(issue).code == 1
    assert village.start("cancel", "ada/engine#1b").wait().code == 0
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    body = strip_mark(village.pull[0].body)
    said = "ada/engine#1b (Add the green file) was left out: cancelled by"
    assert ("Part of #1" in body, said in body) == (True, True), body
    assert ("green.txt" in village.files(), "blue.txt" in village.files()) == (False, True)


@on_github
def test_done_parts_are_kept_when_what_comes_after_them_fails(village: Village) -> None:
    propose(village, task("red"), task("green"), task("blue"))
    village.settings = village.settings.replace("! grep -q wrong *.txt", "! grep -q later blue.txt")
    village.configure()
    # What the agent of the whole does makes the check fail, whatever it repairs.
    issue = file(village, "$ echo later >> blue.txt\n")
    running = village.start("forge", village.name(issue))
    village.shop.wait_for(lambda: count(village, "ada/engine#1a"))
    issue.body += "\n- and more of it\n"
    assert running.wait(90).code == 1
    parts = {part: count(village, f"ada/engine#1{part}") for part in "abc"}
    assert village.start("cancel", "ada/engine#1").wait().code == 0
    village.settings = village.settings.replace("! grep -q later blue.txt", "test -e red.txt")
    village.configure()
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert {part: count(village, f"ada/engine#1{part}") for part in "abc"} == parts
    assert (len(asked(village)), village.pull[1].head) == (1, "whilly/issue-1-add-colours")


@on_github
def test_work_that_somebody_took_from_the_branch_is_missed_before_anything_is_offered(village: Village) -> None:
    propose(village, task("red"), task("green", "red", description=wait_for("green")), task("blue", "green"))
    issue, git = file(village, write("nothing")), village.shop.repository
    running = village.start("forge", village.name(issue))
    village.shop.wait_for(lambda: count(village, "ada/engine#1b"))
    held = git.git("rev-parse", "whilly/issue-1-add-colours").strip()
    git.git("branch", "-f", "whilly/issue-1-add-colours", "main")
    village.shop.let_go()
    ended = running.wait(60)
    assert (ended.code, village.pulls) == (1, []), ended.out + ended.err
    assert f"does not hold the work of ada/engine#1a ({held[:12]}) any more" in ended.out


@on_github
def test_after_a_reset_all_of_it_is_done_again_on_another_branch(village: Village) -> None:
    propose(village, task("red"), task("green"), task("blue", "green", description=fail("blue")))
    issue = file(village, write("nothing"))
    assert village.forge(issue).code == 1
    reset = village.start("reset", "ada/engine#1", "--yes").wait()
    assert reset.code == 0, reset.err
    village.shop.let_go()
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert village.pull[1].head == "whilly/issue-1-add-colours-2"
    assert {name: village.files()[f"{name}.txt"] for name in NAMES} == {name: name for name in NAMES}


@on_github
def test_an_issue_that_was_closed_meanwhile_becomes_no_pull_request(village: Village) -> None:
    propose(village, task("red", description=wait_for("red")), task("green"), task("blue"))
    issue = file(village, write("nothing"))
    running = village.start("forge", village.name(issue))
    village.shop.wait_for(lambda: count(village, "ada/engine#1a"))
    issue.state = "closed"
    village.shop.let_go()
    ended = running.wait(60)
    assert (ended.code, village.pulls) == (1, []), ended.out + ended.err
    assert "issue ada/engine#1 is closed" in ended.out
    refused = village.forge(issue)
    assert (refused.code, "is closed" in refused.err) == (4, True), refused.err


@on_github
def test_a_word_for_the_issue_reaches_its_parts(village: Village) -> None:
    propose(village, task("red"), task("green", description=fail("green")), task("blue"))
    issue = file(village, write("nothing"))
    assert village.forge(issue).code == 1
    assert village.start("retry", "ada/engine#1", "--note", "mind the hue").wait().code == 0
    village.shop.let_go()
    assert village.forge(issue).code == 0
    assert [prompt for prompt in village.prompts() if "mind the hue" in prompt and "# Task ada/engine#1b" in prompt]


@on_github
def test_an_id_that_is_no_text_goes_back_like_every_fault(village: Village) -> None:
    propose(village, task("red"), task("green"), task("blue"))
    path = village.shop.world / "proposal.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"id": "red"', '"id": "\\ud800"'), encoding="utf-8")
    ended = village.forge(file(village, write(*NAMES)))
    assert ended.code == 0, ended.out + ended.err
    assert "internal error" not in ended.out
    assert village.files()["red.txt"] == "red"


@on_github
def test_parts_that_were_merged_by_squashing_are_not_missed(village: Village) -> None:
    propose(village, *map(task, NAMES))
    issue = file(village, write("nothing"))
    assert village.forge(issue).code == 0
    ticket, pull = village.pull
    pull.merged = village.hub.repo.git.push("main", {f"{name}.txt": f"{name}\n" for name in NAMES})
    ticket.state = issue.state = "closed"
    ended = village.forge(issue)
    assert (ended.code, ended.complete["done"]) == (0, 4), ended.out + ended.err
    git = village.shop.repository
    git.git("branch", "-D", pull.head)
    for words in (("why", "ada/engine#1a"), ("status",), ("doctor",)):
        said = village.start(*words).wait()
        assert "has the work any more" not in said.out + said.err, said.out + said.err
