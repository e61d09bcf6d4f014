"""The stage `verify` of issues: what is looked at, what is asked for, and what follows; without git and processes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from typing_extensions import override

from whilly.adapters.memory.artefacts import MemoryArtefacts
from whilly.adapters.memory.parts import MemoryParts
from whilly.adapters.memory.trees import MemoryTrees
from whilly.adapters.planfile.decompose import Bounds, PlanDivider
from whilly.application.attempt_context import AttemptContext, Line, Rules
from whilly.application.forging.desk import Desk, PullRules
from whilly.application.forging.judging.judge_change import judge_change
from whilly.application.forging.records import keep_fork
from whilly.application.forging.rounds import VERDICT
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.change import CheckCommand
from whilly.domain.delivery.proof import Demand
from whilly.domain.flow.brief import Brief, Halt, Profile
from whilly.domain.flow.pipeline import Stage
from whilly.domain.flow.run import Run
from whilly.domain.forge.reference import IssueRef
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId
from whilly.domain.work_item import WorkItem
from whilly.testing.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.session import Activity

ITEM = ItemId("ada/engine#1")
TEST = "echo FAILED tests/test_a.py::test_a - wrong && grep -q right answer.txt"
"""Fails where the code is that of the base."""
BASE = {"answer.txt": "wrong\n", "tests/test_old.py": "strict\n"}


@dataclass
class Wire(Line):
    """Lets everything go on, unless it is told to halt."""

    stop: Halt | None = None

    @override
    def halt(self) -> Halt | None:
        return self.stop

    @override
    def report(self, activity: Activity) -> None:
        raise AssertionError(activity)

    @override
    async def keep_candidate(self, commit: CommitId) -> bool:
        raise AssertionError(commit)


@dataclass
class Bench:
    """An issue's run, at the stage `verify`."""

    strategy: str = "bugfix_repro_first"
    commands: tuple[str, ...] = (TEST,)
    setup: tuple[str, ...] = ()
    proofs: Demand = Demand.ASK
    world: World = field(default_factory=lambda: World(""))
    artefacts: MemoryArtefacts = field(default_factory=MemoryArtefacts)
    wire: Wire = field(default_factory=Wire)
    allowed: tuple[str, ...] = ()
    number: int = 5
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        self.base = self.world.history.make_commit(BASE)
        self.run = Run(RunId("r-1"), PlanId("p"), ITEM, "forge", "verify", base=self.base)

    def commit(self, files: Mapping[str, str | None]) -> CommitId:
        after = {**BASE, **files}
        return self.world.history.make_commit({k: v for k, v in after.items() if v is not None}, (self.base,))

    @property
    def desk(self) -> Desk:
        nobody = cast("Any", None)
        ref = IssueRef("local", "ada/engine", "1")
        rules = PullRules(proofs=self.proofs)
        places = (
            nobody,
            nobody,
            nobody,
            nobody,
            self.artefacts,
            MemoryParts(),
            PlanDivider(Bounds()),
            MemoryTrees(self.world.history),
        )
        return Desk(ref, "local", "ada/engine", "main", *places, rules)

    async def judge(self, files: Mapping[str, str | None]) -> AttemptResult:
        """The verdict on a change of the base, as the next attempt."""
        return await self.judge_again(self.commit(files), self.number + 1)

    async def judge_again(self, commit: CommitId, number: int) -> AttemptResult:
        issue = {"key": "1", "title": "Wrong", "body": f"It is wrong\n\n**Strategy:** {self.strategy}", "labels": []}
        more = {"comments": [], "url": "", "priority": "", "may_write": True}
        await self.artefacts.save(self.run.id, "issue", {**issue, **more})
        self.number = number
        verify = tuple(CheckCommand(run) for run in self.commands)
        setup = tuple(CheckCommand(run, kind="setup") for run in self.setup)
        rules = Rules(Profile(setup=setup, verify=verify, allowed_paths=self.allowed))
        context = AttemptContext(self.world.ports(), rules, self.wire, lambda _name, _values: "")
        run = replace(self.run, attempt=number, head=commit, evidence=self.evidence)
        brief = Brief(run, Stage("verify", "integrate", action="verify"), WorkItem(ITEM, "x"), "/h", "b", "t")
        return await judge_change(brief, context, self.desk)

    async def verdict(self) -> Mapping[str, Any]:
        found = await self.artefacts.load(self.run.id, VERDICT)
        return cast("Mapping[str, Any]", found)

    async def rounds(self) -> list[Mapping[str, Any]]:
        return list((await self.verdict())["rounds"])

    async def kinds(self) -> list[list[str]]:
        return [[failure["kind"] for failure in each["failures"]] for each in await self.rounds()]


RIGHT = {"answer.txt": "right\n"}
TESTED = {**RIGHT, "tests/test_a.py": "new\n"}


async def test_what_shows_its_proofs_passes() -> None:
    bench = Bench()
    result = await bench.judge(TESTED)
    assert (result.outcome, result.reason) == (Outcome.COMPLETED, "shown: fails_before, old_tests_pass")
    verdict = await bench.verdict()
    assert (verdict["version"], verdict["verdict"]) == (1, "pass")
    (made,) = verdict["rounds"]
    assert made == {
        "attempt": "r-1/6",
        "commit": bench.commit(TESTED),
        "base": bench.base,
        "verdict": "pass",
        "reason": "every check passed",
        "has_value": True,
        "lines": 3,
        "failures": [],
        "proofs": {
            "seen": [
                {"proof": "fails_before", "how": "fails on base, passes here: tests/test_a.py::test_a"},
                {"proof": "old_tests_pass", "how": "the tests of the base pass here, none of them altered"},
            ],
            "missing": [],
        },
        "checks": [{"command": TEST, "result": "passed", "output": ""}],
    }


async def test_a_missing_test_is_asked_for_once() -> None:
    bench = Bench()
    asked = await bench.judge(RIGHT)
    assert (asked.outcome, asked.commit) == (Outcome.REJECTED, bench.commit(RIGHT))
    assert asked.evidence is not None
    assert asked.evidence.hints[0].startswith(f"Add one test that fails on {bench.base[:12]}")
    assert asked.evidence.fingerprint == "r-1/6 proof:fails_before"
    again = await bench.judge(RIGHT)
    assert again.outcome is Outcome.COMPLETED
    assert not again.is_escalated
    assert await bench.kinds() == [["proof_missing"], []]
    (missing,) = (await bench.rounds())[-1]["proofs"]["missing"]
    assert missing == {"proof": "fails_before", "why": "no test of the change fails on the base and passes on the head"}


@pytest.mark.parametrize(("proofs", "missing"), [(Demand.DRAFT, 1), (Demand.OFF, 0)])
async def test_nobody_is_asked_where_the_setting_says_so(proofs: Demand, missing: int) -> None:
    bench = Bench(proofs=proofs)
    assert (await bench.judge(RIGHT)).outcome is Outcome.COMPLETED
    assert len((await bench.rounds())[0]["proofs"]["missing"]) == missing


@pytest.mark.parametrize(
    ("commands", "setup", "why"),
    [
        (("true",), (), "the tests of the change pass on main ("),
        ((TEST,), ("grep -q right answer.txt",), "the tests could not be run on main ("),
        (("test -f answer.txt && grep -q right answer.txt && no-such-thing",), (), ""),
        ((), (), "no command runs tests here"),
    ],
    ids=["passes before", "set-up fails before", "does not run at all", "no command"],
)
async def test_only_a_test_that_fails_shows_the_fault(
    commands: tuple[str, ...], setup: tuple[str, ...], why: str
) -> None:
    bench = Bench(commands=commands, setup=setup, proofs=Demand.DRAFT)
    result = await bench.judge(TESTED)
    if not why:
        assert (result.outcome, await bench.kinds()) == (Outcome.BLOCKED, [["command_missing"]])
        return
    told = {each["proof"]: each["why"] for each in (await bench.rounds())[0]["proofs"]["missing"]}
    assert told["fails_before"].startswith(why)


@pytest.mark.parametrize("strategy", ["bugfix_repro_first", "feature_plan_first"])
async def test_notes_below_tests_are_no_test(strategy: str) -> None:
    bench = Bench(strategy=strategy)
    result = await bench.judge({**RIGHT, "tests/NOTES.md": "notes\n"})
    assert (result.outcome, await bench.kinds()) == (Outcome.REJECTED, [["proof_missing"]])


@pytest.mark.parametrize("proofs", list(Demand))
async def test_a_change_with_nothing_in_it_waits_for_a_person_whose_word_is_passed_on(proofs: Demand) -> None:
    bench = Bench(commands=("true",), proofs=proofs)
    for _ in range(2):
        stuck = await bench.judge({})
        assert (stuck.outcome, stuck.whom, stuck.is_escalated) == (Outcome.BLOCKED, "person", True)
        assert "whilly retry ada/engine#1 --note" in stuck.reason
    bench.evidence = Evidence("ada says: mend the file", word="ada says: mend the file")
    on = await bench.judge({})
    assert on.outcome is Outcome.REJECTED
    assert on.evidence is not None
    assert on.evidence.hints[0] == "ada says: mend the file"
    bench.evidence = None
    assert (await bench.judge({})).outcome is Outcome.BLOCKED
    assert await bench.kinds() == [["nothing_changed"]] * 4


async def test_where_nothing_runs_tests_nobody_is_asked_for_one() -> None:
    bench = Bench(commands=())
    assert (await bench.judge(TESTED)).outcome is Outcome.COMPLETED


async def test_a_command_that_names_no_test_stands_for_the_tests_itself() -> None:
    bench = Bench(commands=("grep -q right answer.txt",))
    assert (await bench.judge(TESTED)).outcome is Outcome.COMPLETED
    (made,) = await bench.rounds()
    assert made["proofs"]["seen"][0]["how"] == "fails on base, passes here: grep -q right answer.txt"


async def test_the_base_s_tests_are_run_on_the_change() -> None:
    bench = Bench(commands=(TEST, "grep -q lax tests/test_old.py"))
    result = await bench.judge({**TESTED, "tests/test_old.py": "lax\n"})
    assert (result.outcome, await bench.kinds()) == (Outcome.REJECTED, [["tests_weakened"]])
    assert result.evidence is not None
    assert "with tests/test_old.py as main (" in result.evidence.summary
    assert result.evidence.hints[0].startswith("Put tests/test_old.py back as")


async def test_how_the_base_s_tests_are_run_is_the_base_s_as_well() -> None:
    bench = Bench(commands=(TEST, "grep -q lax tox.ini"))
    bench.base = bench.world.history.make_commit({**BASE, "tox.ini": "strict\n"})
    bench.run = replace(bench.run, base=bench.base)
    result = await bench.judge({**TESTED, "tox.ini": "lax\n"})
    assert (result.outcome, await bench.kinds()) == (Outcome.REJECTED, [["tests_weakened"]])
    assert result.evidence is not None
    assert "with tox.ini as main (" in result.evidence.summary


async def test_the_change_is_what_the_branch_has_on_top_of_the_base_branch() -> None:
    bench = Bench(strategy="refactor_guarded", commands=("true",))
    later = bench.commit({"tests/test_old.py": "altered\n"})
    brief = Brief(bench.run, Stage("v", ""), WorkItem(ITEM, "x"), "/h", "b", "t")
    await keep_fork(brief, bench.desk, bench.base)
    bench.run = replace(bench.run, base=later)
    result = await bench.judge({"answer.txt": "right\n", "tests/test_old.py": "altered\n"})
    assert result.outcome is Outcome.REJECTED
    assert "tests of the base are changed: tests/test_old.py" in result.reason


async def test_the_same_failure_again_is_shown_as_it_is() -> None:
    bench = Bench()
    first = await bench.judge({"answer.txt": "bad\n"})
    assert (first.outcome, await bench.kinds()) == (Outcome.REJECTED, [["test_failed"]])
    again = await bench.judge({"answer.txt": "worse\n"})
    assert (again.outcome, again.is_escalated) == (Outcome.COMPLETED, True)
    assert "the same failure again" in again.reason
    (check,) = (await bench.rounds())[-1]["checks"]
    assert (check["command"], check["result"]) == (TEST, "failed")
    assert "FAILED tests/test_a.py" in check["output"]


async def test_a_command_behind_the_one_that_failed_was_not_run() -> None:
    bench = Bench(commands=("true", TEST, "echo more"))
    await bench.judge({"answer.txt": "bad\n"})
    assert [each["result"] for each in (await bench.rounds())[0]["checks"]] == ["passed", "failed", "not_run"]


async def test_what_is_not_worth_showing_waits_for_a_person_whose_word_is_passed_on() -> None:
    bench = Bench(commands=("grep -q right answer.txt",))
    assert (await bench.judge({"answer.txt": "bad\n"})).outcome is Outcome.REJECTED
    stuck = await bench.judge({"answer.txt": "bad\n"})
    assert (stuck.outcome, stuck.whom, stuck.is_escalated) == (Outcome.BLOCKED, "person", True)
    assert "whilly retry ada/engine#1 --note" in stuck.reason
    bench.evidence = Evidence("ada says: look at the file", word="ada says: look at the file")
    on = await bench.judge({"answer.txt": "bad\n"})
    assert on.outcome is Outcome.REJECTED
    assert on.evidence is not None
    assert on.evidence.hints[0] == "ada says: look at the file"
    assert [each["verdict"] for each in await bench.rounds()] == ["repair", "escalate", "repair"]


async def test_a_proof_that_is_asked_for_costs_no_repair() -> None:
    bench = Bench(strategy="unknown_safe_mode", commands=("grep -q lax tests/test_old.py", TEST))
    lax = {"tests/test_old.py": "lax\n"}
    assert (await bench.judge({**TESTED, **lax})).outcome is Outcome.REJECTED
    assert (await bench.judge({**lax, "answer.txt": "bad\n"})).outcome is Outcome.REJECTED
    assert await bench.kinds() == [["tests_weakened"], ["test_failed"]]


async def test_what_is_too_large_is_shown_as_a_draft() -> None:
    bench = Bench(strategy="unknown_safe_mode")
    result = await bench.judge({**TESTED, "more.txt": "line\n" * 301})
    assert (result.outcome, result.is_escalated) == (Outcome.COMPLETED, True)
    assert "the change has 304 lines, more than 300" in result.reason


async def test_paths_that_are_not_allowed_go_back() -> None:
    bench = Bench(allowed=("src/*",))
    result = await bench.judge(TESTED)
    assert (result.outcome, await bench.kinds()) == (Outcome.REJECTED, [["path_refused"]])
    assert result.evidence is not None
    assert result.evidence.paths == ("answer.txt", "tests/test_a.py")


async def test_an_attempt_that_is_asked_for_twice_is_one_round() -> None:
    bench = Bench()
    commit = bench.commit(RIGHT)
    results = [await bench.judge_again(commit, 6) for _ in range(3)]
    assert [each.outcome for each in results] == [Outcome.REJECTED] * 3
    assert [each["attempt"] for each in await bench.rounds()] == ["r-1/6"]


async def test_an_attempt_that_is_ended_leaves_no_round() -> None:
    bench = Bench(wire=Wire(Halt(Outcome.INTERRUPTED, "Ctrl-C")))
    result = await bench.judge(TESTED)
    assert (result.outcome, result.is_deliberate) == (Outcome.INTERRUPTED, True)
    assert await bench.artefacts.load(bench.run.id, VERDICT) is None
