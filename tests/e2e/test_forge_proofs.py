"""What a change has to show of itself before it is offered, and what becomes of one that does not pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from whilly.testing.forges.gitea.server import GiteaServer
from whilly.testing.forges.github.server import GithubServer
from whilly.testing.forges.hub import WRITER
from whilly.testing.forges.village import Village

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from whilly.testing.forges.hub import Ticket

SETTINGS = """
[agent]
isolation = "open"
[profile]
verify = ["python3 -m unittest --quiet"]
"""
SHOP = "def total(prices):\n    return sum(prices) / len(prices)\n"
TESTS = """\
import unittest
from shop import total


class TotalTest(unittest.TestCase):
    def test_one(self):
        self.assertEqual(total([3]), 3)
"""
ISSUE = """\
`total([1, 2])` in `shop.py` gives 1.5.

{script}

## Steps to reproduce
1. `python3 -c "from shop import total; print(total([1, 2]))"`

## Expected
3

## Actual
1.5

## Acceptance
- `total([1, 2])` is 3

**Files:** `shop.py`, `test_shop.py`, `test_more.py`, `README.md`
"""
MEND = "printf 'def total(prices):\\n    return sum(prices)\\n' > shop.py"
SPOIL = "printf 'def total(prices):\\n    return %s\\n' > shop.py"
HEAD = "import unittest\\nfrom shop import total\\n\\n\\nclass More(unittest.TestCase):\\n"
CASE = "    def test_{name}(self):\\n        self.assertEqual(total({given}), {wanted})\\n"
TWO = CASE.format(name="two", given="[1, 2]", wanted=3)
ADD_TEST = f"printf '{HEAD}{TWO}' > test_more.py"
CHANGE_TEST = "sed -i 's/total(.3.), 3/total([3]), 4/' test_shop.py"

on_github = pytest.mark.parametrize("village", [GithubServer], ids=["github"], indirect=True)


@pytest.fixture(params=[GithubServer, GiteaServer], ids=["github", "gitea"])
def village(tmp_path: Path, test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[Village]:
    with Village.make(tmp_path, test_environment["PATH"], request.param, SETTINGS) as made:
        made.hub.repo.git.push("main", {"shop.py": SHOP, "test_shop.py": TESTS})
        made.pull_base()
        yield made


def file(village: Village, label: str, execute: str, repair: str = "true", address: str = "true") -> Ticket:
    """An issue of a kind, and what the agent does in each round."""
    script = ("case $round in", f"execute) {execute};;", f"repair) {repair};;", f"address) {address};;", "esac")
    issue = village.file("total is wrong", ISSUE.format(script="\n".join(f"$ {line}" for line in script)))
    village.hub.set_labels(village.hub.repo, issue, [label])
    return issue


def count_rounds(village: Village, name: str) -> int:
    """How often an agent was set to work in a round of this name."""
    return sum(line.startswith("start ") and line.endswith(f" {name}") for line in village.shop.log())


def read_verdict(village: Village) -> Mapping[str, Any]:
    (kept,) = village.shop.repository.root.glob(".whilly/runs/*/verdict.json")
    found: Mapping[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def is_draft(ticket: Ticket) -> bool:
    """In whichever way the forge has drafts."""
    assert ticket.pull is not None
    return ticket.pull.is_draft or ticket.title.startswith("WIP:")


def list_milestones(village: Village) -> list[str]:
    told = json.loads(village.start("timeline", "ada/engine#1", "--json").wait().out)
    return [event["milestone"] for event in told["events"] if "milestone" in event]


def test_a_test_that_fails_before_is_named(village: Village) -> None:
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}")
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert "fails on base, passes here: test_two (test_more.More" in ticket.body
    assert "the tests of the base pass here, none of them altered" in ticket.body
    assert (is_draft(ticket), count_rounds(village, "repair")) == (False, 0), ticket.body
    assert "- `shop.py`\n- `test_more.py`" in ticket.body
    (made,) = read_verdict(village)["rounds"]
    assert [each["proof"] for each in made["proofs"]["seen"]] == ["fails_before", "old_tests_pass"]
    assert made["checks"] == [{"command": "python3 -m unittest --quiet", "result": "passed", "output": ""}]
    village.hub.repo.git.push("main", {"other.txt": "x\n"})
    assert village.forge(issue).code == 0
    assert f"(seen with {made['base'][:12]} as the base)" in ticket.body
    assert "other.txt" not in ticket.body


@on_github
def test_a_test_that_is_missing_is_asked_for_once_and_brought(village: Village) -> None:
    ended = village.forge(file(village, "bug", MEND, ADD_TEST))
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert (is_draft(ticket), count_rounds(village, "repair")) == (False, 1), ticket.body
    assert "fails on base, passes here: test_two" in ticket.body
    assert any("Add one test that fails on" in prompt for prompt in village.prompts())
    first, second = read_verdict(village)["rounds"]
    assert [each["kind"] for each in first["failures"]] == ["proof_missing"]
    assert (first["verdict"], second["verdict"]) == ("repair", "pass")
    steps = ["verification_failed", "repair_started", "repair_finished", "verification_passed", "pr_created"]
    assert [each for each in list_milestones(village) if each in steps] == steps


@on_github
@pytest.mark.parametrize("repair", ["true", "echo more >> README.md"], ids=["nothing", "something else"])
def test_a_test_that_stays_missing_makes_a_draft_that_says_so(village: Village, repair: str) -> None:
    ended = village.forge(file(village, "bug", MEND, repair))
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    why = "no test of the change fails on the base and passes on the head"
    assert (is_draft(ticket), count_rounds(village, "repair")) == (True, 1), ticket.body
    assert f"> **A draft**, because:\n> - {why}" in ticket.body
    assert f"## Risks\n\n- {why}" in ticket.body


@on_github
def test_a_test_that_passes_before_shows_nothing(village: Village) -> None:
    same = CASE.format(name="same", given="[3]", wanted=3)
    ended = village.forge(file(village, "bug", f"{MEND}; printf '{HEAD}{same}' > test_more.py"))
    assert ended.code == 0, ended.out + ended.err
    assert "the tests of the change pass on main (" in village.pull[0].body
    assert is_draft(village.pull[0])


def test_a_test_that_was_made_to_pass_is_seen(village: Village) -> None:
    twice = "printf 'def total(prices):\\n    return sum(prices) + 1\\n' > shop.py"
    more = CASE.format(name="two", given="[1, 2]", wanted=4)
    ended = village.forge(file(village, "bug", f"{twice}; {CHANGE_TEST}; printf '{HEAD}{more}' > test_more.py"))
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert is_draft(ticket)
    assert "with test_shop.py as main (" in ticket.body
    first, second = read_verdict(village)["rounds"]
    assert [each["kind"] for each in first["failures"]] == ["tests_weakened"]
    assert [each["proof"] for each in second["proofs"]["missing"]] == ["old_tests_pass"]
    asked = [prompt for prompt in village.prompts() if "## A check fails" in prompt]
    assert ["Put test_shop.py back as" in prompt and "4 != 3" in prompt for prompt in asked] == [True]


@on_github
def test_a_feature_brings_tests(village: Village) -> None:
    ended = village.forge(file(village, "feature", MEND, ADD_TEST))
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert (is_draft(ticket), count_rounds(village, "repair")) == (False, 1), ticket.body
    assert "tests added: test_more.py" in ticket.body


@on_github
def test_a_refactoring_leaves_the_tests_as_they_are(village: Village) -> None:
    clean = "printf 'def total(prices):\\n    return sum(prices) / max(len(prices), 1)\\n' > shop.py"
    touch = "sed -i 's/test_one/test_first/' test_shop.py"
    ended = village.forge(
        file(village, "refactor", f"{clean}; {touch}", "sed -i 's/test_first/test_one/' test_shop.py")
    )
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert (is_draft(ticket), count_rounds(village, "repair")) == (False, 1), ticket.body
    assert "no test of the base is altered" in ticket.body
    assert village.files()["test_shop.py"] == TESTS.strip()


@on_github
def test_documents_come_without_code(village: Village) -> None:
    ended = village.forge(
        file(village, "docs", f"echo more >> README.md; {MEND}", "git checkout --quiet main -- shop.py")
    )
    assert ended.code == 0, ended.out + ended.err
    assert village.files()["shop.py"] == SHOP.strip()
    (first, second) = read_verdict(village)["rounds"]
    assert "files that are no documents are changed: shop.py" in first["failures"][0]["summary"]
    assert second["verdict"] == "pass"


@on_github
@pytest.mark.parametrize(
    ("demand", "draft", "said"),
    [("draft", True, "no test of the change fails on the base"), ("off", False, "passed")],
)
def test_the_setting_says_whether_proofs_are_asked_for(
    village: Village, demand: str, said: str, *, draft: bool
) -> None:
    village.configure(f'proofs = "{demand}"')
    ended = village.forge(file(village, "bug", MEND, ADD_TEST))
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert (is_draft(ticket), count_rounds(village, "repair"), said in ticket.body) == (draft, 0, True), ticket.body
    assert ("fails on" in ticket.body) == (demand == "draft")


def test_what_no_repair_mends_becomes_a_draft_that_waits_for_people(village: Village) -> None:
    wrong = SPOIL.replace("%s", "5")
    issue = file(village, "bug", f"{wrong}; {ADD_TEST}", "echo more >> README.md", MEND)
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    ticket, pull = village.pull
    assert (is_draft(ticket), count_rounds(village, "repair")) == (True, 1), ticket.body
    assert ticket.body.count("it is not finished: the same failure again") == len(["why a draft", "risks"])
    assert "| `python3 -m unittest --quiet` | **failed** |" in ticket.body
    assert "escalated" in list_milestones(village)
    assert [each["verdict"] for each in read_verdict(village)["rounds"]] == ["repair", "escalate"]

    village.hub.add_check(
        village.hub.repo, village.head(), "test", "failed", "FAIL: test_two\nAssertionError: 5 != 3\n"
    )
    before = village.head()
    ended = village.forge(issue)
    assert (ended.code, village.head(), count_rounds(village, "repair")) == (0, before, 1), ended.out + ended.err
    assert "it does not pass, as is known (the same failure again" in village.start("status").wait().out
    told = village.start("why", "ada/engine#1").wait().out
    assert "it does not pass, as is known (the same failure again" in told
    assert "(verify) escalated: what there is becomes a draft" in told

    village.hub.repo.git.push("main", {"other.txt": "x\n"})
    ended = village.forge(issue)
    assert (ended.code, village.files()["other.txt"]) == (0, "x"), ended.out + ended.err
    assert (count_rounds(village, "repair"), "**failed**" in ticket.body) == (1, True)
    assert "the same change on an earlier base" in ticket.body

    village.hub.add_remark(pull, village.hub.users[WRITER], "shop.py", 2, "The sum, please", commit=village.head())
    ended = village.forge(issue)
    assert (ended.code, count_rounds(village, "address")) == (0, 1), ended.out + ended.err
    assert "fails on base, passes here: test_two" in ticket.body
    assert ("it is not finished" in ticket.body, is_draft(ticket)) == (False, False)
    assert read_verdict(village)["verdict"] == "pass"


def test_what_came_to_fail_is_no_longer_offered_and_stays_known_after_a_cancel(village: Village) -> None:
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}", "echo more >> README.md", SPOIL.replace("%s", "5"))
    assert village.forge(issue).code == 0
    ticket, pull = village.pull
    assert not is_draft(ticket)
    village.hub.add_remark(pull, village.hub.users[WRITER], "shop.py", 2, "Five, please", commit=village.head())
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert (is_draft(ticket), count_rounds(village, "repair")) == (True, 1), ticket.body
    assert village.start("cancel", "ada/engine#1").wait().code == 0
    village.hub.add_check(
        village.hub.repo, village.head(), "test", "failed", "FAIL: test_two\nAssertionError: 5 != 3\n"
    )
    ended = village.forge(issue)
    assert (ended.code, count_rounds(village, "repair")) == (0, 1), ended.out + ended.err
    assert "it does not pass, as is known" in village.start("why", "ada/engine#1").wait().out


def approve(village: Village) -> None:
    """Have its checks pass, and somebody approve of it."""
    village.hub.add_check(village.hub.repo, village.head(), "test", "passed")
    village.hub.add_review(village.pull[1], village.hub.users[WRITER], "approved", "", village.head())


def test_what_was_offered_is_withdrawn_and_merged_only_when_a_person_has_made_it_ready(village: Village) -> None:
    village.configure('auto_merge = true\nmerge_method = "merge"')
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}", "true", "rm test_more.py; echo more >> README.md")
    assert village.forge(issue).code == 0
    ticket, pull = village.pull
    assert not is_draft(ticket)
    village.hub.add_remark(pull, village.hub.users[WRITER], "shop.py", 2, "No test, please", commit=village.head())
    ended = village.forge(issue)
    assert (ended.code, is_draft(ticket)) == (0, True), ended.out + ticket.body
    assert "> **A draft**, because:\n> - no test of the change fails" in ticket.body
    approve(village)
    ended = village.forge(issue)
    assert (ended.code, ticket.state, is_draft(ticket)) == (0, "open", True), ended.out + ended.err

    pull.is_draft, ticket.title = False, ticket.title.removeprefix("WIP:").strip()
    village.hub.repo.git.push("main", {"other.txt": "x\n"})
    ended = village.forge(issue)
    assert (ended.code, village.files()["other.txt"]) == (0, "x"), ended.out + ended.err
    assert (is_draft(ticket), "**A draft**" in ticket.body) == (False, False), ticket.body
    assert "## Risks\n\n- no test of the change fails" in ticket.body
    approve(village)
    ended = village.forge(issue)
    assert (ended.code, bool(pull.merged)) == (0, True), ended.out + ended.err


@on_github
def test_a_repair_that_takes_everything_back_waits_for_a_person_whose_word_reaches_the_agent(village: Village) -> None:
    back = "git checkout --quiet main -- .; rm -f test_more.py"
    repair = f"if grep -q 'add the [s]um' \"$prompt\"; then {MEND}; {ADD_TEST}; else {back}; fi"
    issue = file(village, "bug", f"{SPOIL.replace('%s', '5')}; {ADD_TEST}", repair)
    ended = village.forge(issue)
    assert (ended.code, village.pulls, ended.statuses) == (1, [], {"ada/engine#1": "human_loop"}), ended.out
    worked = len(village.shop.log())
    assert "it changes nothing of main" in village.start("why", "ada/engine#1").wait().out
    assert village.forge(issue).code == 1
    assert (len(village.shop.log()), village.pulls) == (worked, [])
    assert village.start("retry", "ada/engine#1", "--note", "add the sum").wait().code == 0
    ended = village.forge(issue)
    assert (ended.code, is_draft(village.pull[0])) == (0, False), ended.out + ended.err


@on_github
def test_a_damaged_verdict_is_begun_anew(village: Village) -> None:
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}", "true", "echo more >> README.md")
    assert village.forge(issue).code == 0
    (kept,) = village.shop.repository.root.glob(".whilly/runs/*/verdict.json")
    kept.write_text('{"version": 1, "rounds": [{"verdict": 5}]}', encoding="utf-8")
    village.hub.add_remark(
        village.pull[1], village.hub.users[WRITER], "shop.py", 2, "Say more, please", commit=village.head()
    )
    ended = village.forge(issue)
    assert (ended.code, count_rounds(village, "address")) == (0, 1), ended.out + ended.err
    assert [each["verdict"] for each in read_verdict(village)["rounds"]] == ["pass"]


NONE = """\
import unittest
from shop import total


class NoneTest(unittest.TestCase):
    def test_none(self):
        self.assertEqual(total(None), 0)
"""
MEND_NONE = "test -e test_none.py && printf 'def total(prices):\\n    return sum(prices or [])\\n' > shop.py"


@on_github
@pytest.mark.parametrize(
    ("repair", "draft", "sessions"),
    [(MEND_NONE, False, 2), ("echo more >> README.md", True, 2), ("true", True, 3)],
    ids=["mended", "something else", "nothing"],
)
def test_what_fails_on_a_base_that_moved_is_mended_there(
    village: Village, repair: str, sessions: int, *, draft: bool
) -> None:
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}", repair)
    assert village.forge(issue).code == 0
    ticket, _ = village.pull
    assert not is_draft(ticket)
    village.hub.repo.git.push("main", {"test_none.py": NONE})
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert (is_draft(ticket), len(village.shop.log()) // 2) == (draft, sessions), ticket.body
    assert village.files()["test_none.py"] == NONE.strip()
    assert ("it is not finished: the same failure again" in ticket.body) is draft
    assert ("AttributeError" in ticket.body or "TypeError" in ticket.body) is draft
    assert [each["verdict"] for each in read_verdict(village)["rounds"]][1:] == [
        "repair",
        "escalate" if draft else "pass",
    ]
    assert "repair_started" in list_milestones(village)
    again = village.forge(issue)
    assert (again.code, len(village.shop.log()) // 2) == (0, sessions), again.out + again.err


@on_github
@pytest.mark.parametrize("point", ["rebase:before", "rebase:after"])
def test_killed_at_a_move_to_where_it_fails_it_is_not_offered_as_finished(village: Village, point: str) -> None:
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}", MEND_NONE)
    assert village.forge(issue).code == 0
    village.hub.repo.git.push("main", {"test_none.py": NONE})
    village.die(point, issue)
    ended = village.forge(issue)
    assert (ended.code, count_rounds(village, "repair")) == (0, 1), ended.out + ended.err
    assert [each["verdict"] for each in read_verdict(village)["rounds"]] == ["pass", "repair", "pass"]


@on_github
def test_many_repairs_end_with_the_verdict_and_not_with_a_limit(village: Village) -> None:
    name = 'n=$(ls "$WORLD" | grep -c try); touch "$WORLD/try$n"'
    count = f'{name}; printf "def total(prices):\\n    return 9$n\\n" > shop.py'
    ended = village.forge(file(village, "bug", f"{count}; {ADD_TEST}", count))
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert (is_draft(ticket), count_rounds(village, "repair")) == (True, 3), ticket.body
    assert "it is not finished: 3 repairs did not mend it" in ticket.body


@on_github
def test_what_is_worth_nothing_waits_for_a_person_and_goes_on_with_their_word(village: Village) -> None:
    village.settings = village.settings.replace("python3 -m unittest", "no-such-command")
    village.configure()
    issue = file(village, "bug", f"{MEND}; {ADD_TEST}")
    ended = village.forge(issue)
    assert (ended.code, village.pulls) == (1, []), ended.out
    assert ended.statuses == {"ada/engine#1": "human_loop"}
    told = village.start("why", "ada/engine#1").wait().out
    assert "no repair mends this: `no-such-command --quiet` failed with exit code 127" in told
    assert "whilly retry ada/engine#1 --note" in told
    assert "escalated" in list_milestones(village)
    village.settings = village.settings.replace("no-such-command", "python3 -m unittest")
    village.configure()
    ended = village.forge(issue)
    assert (ended.code, is_draft(village.pull[0]), len(village.shop.log())) == (0, False, 2), ended.out + ended.err


@on_github
def test_a_verdict_is_written_once_however_often_it_is_asked_for(village: Village) -> None:
    issue = file(village, "bug", MEND, ADD_TEST)
    village.die("judge:after", issue)
    assert [each["verdict"] for each in read_verdict(village)["rounds"]] == ["repair"]
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    assert [each["verdict"] for each in read_verdict(village)["rounds"]] == ["repair", "pass"]
    assert count_rounds(village, "repair") == 1


HELD = """\
prompt=$1
round=execute
grep -q '^## A check fails' "$prompt" && round=repair
sed -n 's/^[$] //p' "$prompt" > "$HOME/script.sh"
. "$HOME/script.sh"
echo '<promise>COMPLETE</promise>'
"""
HELD_SETTINGS = """
[agent]
name = "held"
isolation = "contained"
[agents.held]
argv = ["sh", "{program}", "{{prompt_file}}"]
cost = "free"
"""


@on_github
def test_contained_work_shows_the_same_and_what_a_person_has_accepted_is_told(
    village: Village, bubblewrap: str
) -> None:
    assert bubblewrap
    program = village.shop.world / "held.sh"
    program.write_text(HELD, encoding="utf-8")
    village.settings = village.settings.replace('[agent]\nisolation = "open"\n', HELD_SETTINGS.format(program=program))
    village.configure()
    workflow = "mkdir -p .github/workflows; echo on: push > .github/workflows/ci.yml"
    issue = file(village, "bug", f"{MEND}; {workflow}", ADD_TEST)
    ended = village.forge(issue)
    assert (ended.code, village.pulls) == (1, []), ended.out + ended.err
    commit = read_verdict(village)["rounds"][-1]["commit"]
    accepted = village.start("accept", "ada/engine#1", commit).wait()
    assert accepted.code == 0, accepted.out + accepted.err
    ended = village.forge(issue)
    assert ended.code == 0, ended.out + ended.err
    ticket, _ = village.pull
    assert "a person has accepted .github/workflows/ci.yml (ci: it decides what the forge runs)" in ticket.body
    assert "fails on base, passes here: test_two" in ticket.body
    assert not is_draft(ticket)
