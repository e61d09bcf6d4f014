"""From an idea to a product description and a plan, with the installed command."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions and no pseudo-terminals", allow_module_level=True)

from whilly.testing.models.script import Script, edit, say, write
from whilly.testing.terminal import TerminalProgram

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from whilly.testing.models.scripted import ScriptedModel
    from whilly.testing.terminal import Display
    from whilly.testing.workshop import Workshop

DOCUMENT = """\
# Page of totals

## Context
Totals are looked up by hand.

## Users
- accountants: correct totals

## User stories
- As an accountant, I want a page of totals, so that I need not add them up

## Requirements

### F1.1: Write the page

$ echo page > page.txt

**Phase:** 1
**Files:** `page.txt`

- [ ] the page is there

```sh
grep -q page page.txt
```

### F2.1: Write the export
$ echo export > export.txt

**Phase:** 2

- [ ] the export is there

## Non-goals
- other currencies

## Architecture
Two files.

## Phases
1. The page (1 day)
2. The export

## Metrics
- 0 questions a month

## Risks
- nobody looks → they are told
"""
IDEA = "Page of totals\n$ mkdir -p docs && cp $WORLD/prd.md docs/PRD-page-of-totals.md && echo stray > stray.txt"
PATH = "docs/PRD-page-of-totals.md"
PLAN = ".planning/page-of-totals_tasks.json"


@pytest.fixture(autouse=True)
def document(shop: Workshop) -> None:
    """What the agent puts in place when it is told to."""
    (shop.world / "prd.md").write_text(DOCUMENT, encoding="utf-8")
    shop.repository.commit("settings")


def changed(shop: Workshop) -> str:
    return shop.repository.git("status", "--porcelain", "--untracked-files=all")


def test_the_document_is_put_into_the_work_tree_and_nothing_else_is(shop: Workshop) -> None:
    before = shop.repository.refs()
    ended = shop.run("prd", IDEA, "--json")
    assert ended.code == 0, ended.err
    assert (ended.complete["written"], ended.complete["warnings"], ended.complete["target"]) == ([PATH], [], "")
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT
    assert changed(shop) == f"?? {PATH}"
    branches = {name for name in shop.repository.refs() if name.startswith("refs/heads/")}
    assert branches == {name for name in before if name.startswith("refs/heads/")}
    assert ended.err == ""
    assert f"put into the work tree: {PATH}" in shop.run("why", "PRD-page-of-totals").out


BROKEN = DOCUMENT.replace("- [ ] the export is there\n", "")
TWICE = (
    "Page of totals\n"
    "$ mkdir -p docs; name=broken; [ -e $WORLD/again ] && name=prd; cp $WORLD/$name.md docs/PRD-page-of-totals.md\n"
    "$ grep -q 'F2.1: it has no [c]riterion' $prompt && echo told >> $LOG; touch $WORLD/again"
)


def test_what_is_missing_is_told_to_the_agent_which_mends_it(shop: Workshop) -> None:
    (shop.world / "broken.md").write_text(BROKEN, encoding="utf-8")
    ended = shop.run("prd", TWICE, "--json")
    assert ended.code == 0, ended.err
    start, end = "start PRD-page-of-totals execute", "end PRD-page-of-totals execute"
    assert shop.log() == [start, end, start, "told", end]
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT
    assert "requirement F2.1: it has no criterion" in shop.run("timeline", "PRD-page-of-totals").out


@pytest.mark.parametrize(
    ("deed", "why"),
    [
        (f"cp $WORLD/broken.md {PATH}", "requirement F2.1: it has no criterion"),
        ("cp $WORLD/prd.md docs/other.md", "there is no such file in the commit"),
        (f"ln -s /etc/hostname {PATH}", "there is no such file in the commit"),
    ],
)
def test_a_document_that_stays_incomplete_is_not_delivered(shop: Workshop, deed: str, why: str) -> None:
    (shop.world / "broken.md").write_text(BROKEN, encoding="utf-8")
    ended = shop.run("prd", f"Page of totals\n$ mkdir -p docs; [ -e {PATH} ] || {deed}", "--plan", "--json")
    assert (ended.code, ended.complete["written"], changed(shop)) == (1, [], "")
    assert why in shop.run("why", "PRD-page-of-totals").out
    assert len(shop.log()) == 4


def test_what_is_there_is_replaced_only_when_that_is_wanted(shop: Workshop) -> None:
    shop.repository.write(shop.repository.root, {PATH: "mine\n"})
    refused = shop.run("prd", IDEA)
    assert refused.code == 4
    assert f"{PATH} is there already; nothing was started\n  → --force replaces it" in refused.err
    assert shop.log() == []
    assert shop.run("prd", IDEA, "--force", "--json").code == 0
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT
    # The same again is done again: the agent changes it this time.
    (shop.world / "prd.md").write_text(DOCUMENT.replace("Two files.", "Two small files."), encoding="utf-8")
    assert shop.run("prd", IDEA, "--force", "--json").code == 0
    assert "Two small files." in (shop.repository.root / PATH).read_text(encoding="utf-8")


def test_what_somebody_put_there_meanwhile_is_not_overwritten(shop: Workshop) -> None:
    place = shop.repository.root / PATH
    idea = f"{IDEA}\n$ mkdir -p {place.parent}; echo mine > {place}"
    ended = shop.run("prd", idea, "--json")
    assert (ended.code, place.read_text(encoding="utf-8")) == (1, "mine\n")
    assert f"{PATH} is there already" in shop.run("why", "PRD-page-of-totals").out
    place.unlink()
    assert shop.run("prd", idea, "--json").code == 0
    assert (place.read_text(encoding="utf-8"), len(shop.log())) == (DOCUMENT, 2)


@pytest.mark.parametrize("moment", ["put:before", "put:after"])
def test_killed_while_it_is_put_in_place_the_same_command_goes_on(shop: Workshop, moment: str) -> None:
    told = f"import os; from whilly.cli.main import main; main(['prd', {IDEA!r}, '--json'], "
    told += f"lambda name: os._exit(9) if name == {moment!r} else None)"
    env = {**shop.environ, "PYTHONPATH": ""}
    killed = subprocess.run([sys.executable, "-c", told], cwd=shop.repository.root, env=env, check=False)
    assert killed.returncode == 9
    assert (shop.repository.root / PATH).exists() is (moment == "put:after")
    ended = shop.run("prd", IDEA, "--json")
    assert ended.code == 0, ended.err
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT
    assert len(shop.log()) == 2


def test_a_folder_that_leads_out_of_the_repository_is_not_written_to(shop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (shop.repository.root / "docs").symlink_to(tmp_path / "elsewhere")
    ended = shop.run("prd", IDEA)
    assert (ended.code, shop.log(), list((tmp_path / "elsewhere").iterdir())) == (4, [], [])
    assert f"{PATH} would lie outside of the repository" in ended.err


def test_what_git_ignores_is_refused_before_anything_is_started(shop: Workshop) -> None:
    shop.repository.write(shop.repository.root, {".gitignore": "docs/\n"})
    ended = shop.run("prd", IDEA)
    assert (ended.code, shop.log()) == (4, [])
    assert f"git ignores {PATH}" in ended.err


def test_another_agent_may_be_its_author(shop: Workshop) -> None:
    shop.settings('[agent]\nname = "demo"\n[roles.author]\nagent = "sh"\n')
    ended = shop.run("prd", IDEA, "--json")
    assert (ended.code, ended.objects("attempt_started")[0]["agent"]) == (0, "sh"), ended.err


@pytest.mark.usefixtures("bubblewrap")
def test_a_contained_agent_writes_it_as_well(shop: Workshop) -> None:
    deed = f"mkdir -p docs; cp seed.md {PATH}; echo '<promise>COMPLETE</promise>'"
    shop.settings(f'[agent]\nname = "writer"\n[agents.writer]\nargv = ["sh", "-c", "{deed}"]\ncost = "free"\n')
    shop.repository.write(shop.repository.root, {"seed.md": DOCUMENT})
    shop.repository.commit("seed")
    ended = shop.run("prd", "Page of totals", "--isolation", "contained", "--json")
    assert (ended.code, changed(shop)) == (0, f"?? {PATH}"), ended.err
    assert {each["tier"] for each in ended.objects("attempt_started")} == {"contained"}
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT


def test_a_plan_is_made_of_it_and_run(shop: Workshop) -> None:
    ended = shop.run("prd", IDEA, "--run", "--json")
    assert ended.code == 0, ended.err
    described, ran = ended.objects("complete")
    assert (described["written"], ran["done"]) == ([PATH, PLAN], 2)
    plan = json.loads((shop.repository.root / PLAN).read_text(encoding="utf-8"))
    assert (plan["prd_file"], [task["prd_requirement"] for task in plan["tasks"]]) == (PATH, ["F1.1", "F2.1"])
    assert shop.integrated("whilly/page-of-totals") == ["TASK-001", "TASK-002"]
    assert f"{PATH} and {PLAN} are there already" in shop.run("prd", IDEA, "--plan").err


def test_a_plan_is_made_of_a_document_that_is_there(shop: Workshop) -> None:
    shop.repository.write(shop.repository.root, {PATH: DOCUMENT, "docs/bad.md": BROKEN})
    told = shop.run("--plan", PATH)
    assert (told.code, told.out) == (0, f"made {PLAN}; to work through it: whilly run {PLAN}\n")
    as_json = shop.run("prd", "--from", PATH, "--force", "--json")
    assert as_json.objects() == [{"event": "complete", "written": [PLAN], "exit_code": 0}]
    assert shop.run("run", PLAN, "--dry-run").code == 0
    again = shop.run("prd", "--from", PATH)
    assert (again.code, f"{PLAN} is there already, and is not overwritten" in again.err) == (4, True)
    bad = shop.run("prd", "--from", "docs/bad.md")
    assert bad.code == 4
    assert "docs/bad.md: requirement F2.1: it has no criterion → add a line that can be checked" in bad.err
    assert "docs/none.md cannot be read: No such file" in shop.run("prd", "--from", "docs/none.md").err
    assert shop.log() == []


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([""], 4, "the idea is empty"),
        ([" \u200b…\n"], 4, "the idea is empty"),
        (["x" * 60_001], 4, "the idea has 60,001 characters, and at most 60,000 are read"),
        ([], 4, "give one of these: an idea"),
        (["an idea", "--from", "docs/a.md"], 4, "give one of these: an idea"),
        (["--wizard"], 4, "there is no terminal to ask them in"),
        (["an idea", "--agent", "demo"], 4, "agent demo has no model"),
        (["an idea", "--agent", "clade"], 4, "did you mean 'claude'?"),
    ],
)
def test_what_cannot_begin_says_why(shop: Workshop, words: list[str], code: int, told: str) -> None:
    ended = shop.run("prd", *words)
    assert ended.code == code
    assert told in ended.err
    assert (ended.out, shop.log(), changed(shop)) == ("", [], "")


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("$(id) `id` ; rm -rf / # ../../etc", "id-id-rm-rf-etc"),
        ("word " * 1_000, "word-word-word-word-word-word-word-word-word-word"),
        ("Страница итогов", "stranitsa-itogov"),
    ],
)
def test_the_idea_is_a_text_and_gives_a_harmless_name(shop: Workshop, line: str, slug: str) -> None:
    path = f"docs/PRD-{slug}.md"
    ended = shop.run("prd", f"{line}\n$ mkdir -p docs && cp $WORLD/prd.md {path}", "--json")
    assert (ended.code, changed(shop)) == (0, f"?? {path}"), ended.err


ANSWERS = {
    1: "Page of totals",
    2: "People ask every day",
    3: "accountants",
    4: "",
    5: "the page is there\rthe export is there",
    6: "",
    7: "",
    8: "",
    9: "",
    10: "",
}


def open_wizard(shop: Workshop, *words: str) -> TerminalProgram:
    argv = [sys.executable, "-m", "whilly", "prd", "--wizard", *words]
    return TerminalProgram(argv, str(shop.repository.root), {**shop.environ, "TERM": "xterm-256color"}, (110, 40))


def answer(program: TerminalProgram, *numbers: int) -> None:
    for number in numbers:
        program.wait_for(partial(shows, f"{number}/10 "))
        program.press(f"{ANSWERS[number]}\r".encode())
        if ANSWERS[number] and number != 1:
            program.press(b"\r")


def shows(text: str, display: Display) -> bool:
    return text in display.text()


def interrupt(program: TerminalProgram) -> int:
    """Press Ctrl-C, again where it came in the moment before the program began to read."""
    for _ in range(10):
        program.press(b"\x03")
        with suppress(AssertionError):
            return program.wait(3)
    return program.wait()


def test_the_wizard_asks_goes_on_after_ctrl_c_and_ends_with_both_files(shop: Workshop) -> None:
    deed = f"mkdir -p docs; cp {shop.world}/prd.md {PATH}; cp $0 {shop.world}/heard; echo '<promise>COMPLETE</promise>'"
    writer = f'argv = ["sh", "-c", "{deed}", "{{prompt_file}}"]\ncost = "free"\n'
    shop.settings(f'[agent]\nname = "writer"\n[agents.writer]\n{writer}')
    shop.repository.commit("writer")
    with closing(open_wizard(shop)) as program:
        answer(program, 1, 2, 3)
        program.wait_for(partial(shows, "4/10 "))
        assert interrupt(program) == 130
        assert "Answers to 3 questions are kept" in program.display.text()
    with closing(open_wizard(shop)) as program:
        program.wait_for(partial(shows, "Answers to 3 of 10 questions are kept. Go on with them?"))
        program.press(b"\r")
        answer(program, 4)
        # What is required is asked for again.
        program.wait_for(partial(shows, "5/10 "))
        program.press(b"\r")
        program.wait_for(partial(shows, "Nobody but you can answer this."))
        answer(program, 5, 6, 7, 8, 9, 10)
        assert program.wait() == 0
        assert f"written: {PATH}, {PLAN}" in program.display.text()
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT
    assert sorted(changed(shop).splitlines()) == [f"?? {PLAN}", f"?? {PATH}"]
    assert not (shop.repository.root / ".whilly" / "prd-wizard.json").exists()
    heard = (shop.world / "heard").read_text(encoding="utf-8")
    told = "What must be true when it is done:\n- the page is there\n- the export is there\n"
    assert f"Page of totals\n\nThe problem:\n- People ask every day\n\nUsers:\n- accountants\n\n{told}" in heard


def test_the_wizard_is_told_the_title_and_does_not_take_up_another_interview(shop: Workshop) -> None:
    kept = shop.repository.root / ".whilly" / "prd-wizard.json"
    with closing(open_wizard(shop, "Page of\x1b[2J totals")) as program:
        answer(program, 2)
        program.wait_for(partial(shows, "3/10 "))
        assert interrupt(program) == 130
    answers = {"title": ["Page of totals"], "context": ["People ask every day"]}
    assert json.loads(kept.read_text(encoding="utf-8"))["answers"] == answers
    with closing(open_wizard(shop, "Another page")) as program:
        program.wait_for(partial(shows, "2/10 "))
        assert interrupt(program) == 130
    assert json.loads(kept.read_text(encoding="utf-8"))["answers"] == answers
    kept.write_text('{"answers": [1]}', encoding="utf-8")
    with closing(open_wizard(shop)) as program:
        program.wait_for(partial(shows, "1/10 "))
        assert interrupt(program) == 130


def test_claude_code_writes_it_and_mends_it(
    shop: Workshop, scripted_model: Callable[..., ScriptedModel], claude_program: str
) -> None:
    shop.settings(
        f'[agent]\nname = "claude"\nmodel = "claude-sonnet-4-5"\n[agents.claude]\nprogram = "{claude_program}"\n'
    )
    done, metric = say("Done.\n\n<promise>COMPLETE</promise>"), "## Metrics\n- 0 questions a month\n"
    without = DOCUMENT.replace(metric, "## Metrics\n")
    scripts = (
        Script("metrics: says nothing", (edit(PATH, "## Metrics\n", metric), done), start=2),
        Script("# Task PRD-page-of-totals", (write(PATH, without), done)),
    )
    with scripted_model(*scripts) as model:
        words = ("--init", "Page of totals", "--plan", "--headless")
        ended = shop.run(*words, ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="test-key")
    assert ended.code == 0, ended.err + ended.out
    assert ended.complete["written"] == [PATH, PLAN]
    assert (shop.repository.root / PATH).read_text(encoding="utf-8") == DOCUMENT
    assert ended.complete["cost_usd"] == pytest.approx(4 * 0.00375)
