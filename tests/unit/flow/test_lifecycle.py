"""Where every outcome takes a run, at every stage of the pipeline for one developer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from whilly.config.pipelines import load_pipelines
from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.flow.account import LEAST_PAUSE
from whilly.domain.flow.event import AttemptEnded, AttemptStarted, CancelRequested, Deferred, Released, RunEvent
from whilly.domain.flow.lifecycle import (
    _ROUTES,
    BACKOFF,
    MAX_INTERRUPTIONS,
    CloseRun,
    StartAttempt,
    decide,
    due,
)
from whilly.domain.flow.pipeline import END, Pipeline, Route
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import CommitId, ItemId, PlanId, RunId, SessionId
from whilly.domain.work_item import ItemStatus

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SOLO = load_pipelines(Path("/nowhere"), max_attempts=3)["solo"]
TRIED_AGAIN = [Outcome.NO_PROGRESS, Outcome.CRASHED, Outcome.STALLED, Outcome.TIMED_OUT, Outcome.OVER_BUDGET]


def at(stage: str, **position: object) -> Run:
    """A run whose fifth attempt, at this stage, is under way."""
    run = Run(RunId("t-1-x-1"), PlanId("p"), ItemId("T-1"), "solo", stage, phase=Phase.RUNNING, attempt=5)
    return replace(run, **position)  # type: ignore[arg-type]  # the fields' names and types are the caller's


def end(run: Run, outcome: Outcome, pipeline: Pipeline = SOLO, **result: object) -> Run:
    """The run after its attempt has come to `outcome`."""
    ended = AttemptEnded(run.attempt, AttemptResult(outcome, **result), NOON)  # type: ignore[arg-type]  # as above
    decision = decide(run, ended, pipeline)
    assert decision.refusal == ""
    return decision.run


def go_on(run: Run) -> Run:
    """The run with its next attempt under way."""
    step = due(run)
    assert isinstance(step, StartAttempt)
    decision = decide(run, AttemptStarted(step.number, step.stage, NOON), SOLO)
    assert decision.refusal == ""
    return decision.run


def failed(run: Run) -> str:
    """Why the run failed."""
    assert run.ending is not None
    assert run.ending.status is ItemStatus.FAILED
    return run.ending.reason


def test_every_outcome_leads_somewhere() -> None:
    assert set(_ROUTES) == set(Outcome)


@pytest.mark.parametrize(
    ("stage", "outcome", "next_stage"),
    [
        ("execute", Outcome.COMPLETED, "verify"),
        ("verify", Outcome.COMPLETED, "integrate"),
        ("repair", Outcome.COMPLETED, "verify"),
        ("resolve", Outcome.COMPLETED, "verify"),
        ("verify", Outcome.REJECTED, "repair"),
        ("integrate", Outcome.REJECTED, "repair"),
        ("integrate", Outcome.CONFLICT, "resolve"),
        *((stage, outcome, stage) for stage in SOLO.stages for outcome in TRIED_AGAIN),
        *((stage, outcome, stage) for stage in SOLO.stages for outcome in (Outcome.INTERRUPTED, Outcome.AUTH_FAILED)),
    ],
)
def test_the_next_attempt_may_start_at_once(stage: str, outcome: Outcome, next_stage: str) -> None:
    run = end(at(stage), outcome)
    assert (run.phase, run.stage) == (Phase.QUEUED, next_stage)
    assert due(run) == StartAttempt(6, next_stage)


@pytest.mark.parametrize(
    ("stage", "outcome"),
    [
        *((stage, Outcome.REJECTED) for stage in ("execute", "repair", "resolve")),
        *((stage, Outcome.CONFLICT) for stage in ("execute", "repair")),
    ],
)
def test_what_a_stage_has_no_route_for_ends_the_run(stage: str, outcome: Outcome) -> None:
    assert failed(end(at(stage), outcome, reason="it does not fit")).endswith(": it does not fit")


@pytest.mark.parametrize("stage", list(SOLO.stages))
def test_a_cancelled_attempt_skips_the_item(stage: str) -> None:
    run = end(at(stage), Outcome.CANCELLED, reason="cancelled by ada")
    assert run.ending is not None
    assert (run.ending.status, run.ending.reason) == (ItemStatus.SKIPPED, "cancelled by ada")


def test_integration_ends_the_run_as_done_with_its_commit() -> None:
    run = end(at("integrate", head=CommitId("a" * 40)), Outcome.COMPLETED, commit=CommitId("b" * 40))
    assert run.ending is not None
    assert (run.phase, run.ending.status, run.ending.commit) == (Phase.ENDED, ItemStatus.DONE, "b" * 40)
    assert due(run) == CloseRun(keep_branch=False)


def test_a_run_that_failed_keeps_its_branch_and_its_evidence() -> None:
    proof = Evidence("tests failed", command="pytest", exit_code=1)
    run = end(at("repair"), Outcome.REJECTED, evidence=proof)
    assert run.ending is not None
    assert run.ending.evidence == proof
    assert due(run) == CloseRun(keep_branch=True)


def test_commit_and_session_of_an_attempt_are_the_run_s_from_then_on() -> None:
    run = end(at("execute"), Outcome.COMPLETED, commit=CommitId("c" * 40), session=SessionId("s"))
    assert (run.head, run.session) == ("c" * 40, "s")
    run = end(go_on(run), Outcome.REJECTED, evidence=Evidence("no"))
    assert (run.head, run.session) == ("c" * 40, "s")


def test_the_base_is_that_of_the_first_attempt_until_another_is_given() -> None:
    run = Run(RunId("r"), PlanId("p"), ItemId("T-1"), "solo", "execute")
    run = decide(run, AttemptStarted(1, "execute", NOON, base=CommitId("1" * 40)), SOLO).run
    run = go_on(end(run, Outcome.CRASHED))
    assert run.base == "1" * 40
    run = end(run, Outcome.CRASHED)
    assert decide(run, AttemptStarted(3, "execute", NOON, base=CommitId("2" * 40)), SOLO).run.base == "2" * 40


# Tries and conversations


def test_tries_are_counted_until_the_stage_has_no_more() -> None:
    run = end(at("execute"), Outcome.CRASHED)
    run = end(go_on(run), Outcome.STALLED)
    assert run.tries == 2
    assert failed(end(go_on(run), Outcome.TIMED_OUT, reason="too long")) == "timed_out: too long"


def test_tries_begin_anew_at_the_next_stage() -> None:
    assert end(at("execute", tries=2, outages=4, interruptions=4), Outcome.COMPLETED).tries == 0


@pytest.mark.parametrize(
    ("outcome", "session"),
    [
        (Outcome.NO_PROGRESS, "s"),
        (Outcome.OVER_BUDGET, "s"),
        (Outcome.CRASHED, None),
        (Outcome.STALLED, None),
        (Outcome.TIMED_OUT, None),
    ],
)
def test_only_a_conversation_that_stopped_early_is_gone_on_with(outcome: Outcome, session: str | None) -> None:
    assert end(at("execute"), outcome, session=SessionId("s")).session == session


def test_the_next_try_is_told_why_the_last_one_did_not_do() -> None:
    run = end(at("execute"), Outcome.NO_PROGRESS, reason="changed nothing")
    assert run.evidence == Evidence("changed nothing")
    assert end(go_on(run), Outcome.CRASHED, reason="exit code 9").evidence == Evidence("exit code 9")


def test_what_is_to_be_repaired_is_not_forgotten_when_the_repair_crashes() -> None:
    proof = Evidence("tests failed", command="pytest", exit_code=1, output="E assert 1 == 2", fingerprint="x")
    run = go_on(end(at("verify"), Outcome.REJECTED, evidence=proof))
    assert end(run, Outcome.CRASHED, reason="exit code 9").evidence == proof


# Sent back


def test_the_same_failure_twice_ends_the_run() -> None:
    proof = Evidence("tests failed", fingerprint="same")
    run = end(go_on(end(at("verify"), Outcome.REJECTED, evidence=proof)), Outcome.COMPLETED)
    reason = failed(end(go_on(run), Outcome.REJECTED, reason="1 failed", evidence=proof))
    assert reason == "checks failed: the same failure twice: 1 failed"


def test_failures_without_a_fingerprint_are_never_the_same() -> None:
    proof = Evidence("tests failed")
    run = end(go_on(end(at("verify"), Outcome.REJECTED, evidence=proof)), Outcome.COMPLETED)
    assert end(go_on(run), Outcome.REJECTED, evidence=proof).stage == "repair"


def test_a_route_is_taken_as_often_as_its_limit_says() -> None:
    run = at("verify")
    for number in range(3):
        run = end(run, Outcome.REJECTED, evidence=Evidence("failed", fingerprint=str(number)))
        assert (run.stage, run.rounds) == ("repair", {"repair": number + 1})
        run = go_on(end(go_on(run), Outcome.COMPLETED))
    reason = failed(end(run, Outcome.REJECTED, reason="still red", evidence=Evidence("failed", fingerprint="3")))
    assert reason == "checks failed after 3 tries to mend it: still red"


def test_verify_and_integrate_share_the_limit_of_repairs() -> None:
    run = end(at("integrate", rounds={"repair": 2}), Outcome.REJECTED, evidence=Evidence("failed", fingerprint="a"))
    assert run.rounds == {"repair": 3}
    run = replace(run, stage="verify", phase=Phase.RUNNING)
    assert "after 3 tries" in failed(end(run, Outcome.REJECTED, evidence=Evidence("failed", fingerprint="b")))


def test_a_conflict_is_resolved_at_most_twice() -> None:
    run = end(at("integrate", rounds={"repair": 3}), Outcome.CONFLICT)
    assert (run.stage, run.rounds) == ("resolve", {"repair": 3, "resolve": 1})
    assert failed(end(at("integrate", rounds={"resolve": 2}), Outcome.CONFLICT, reason="in app.py")) == (
        "conflict after 2 tries to mend it: in app.py"
    )


def test_any_outcome_that_says_something_about_the_work_may_have_a_route() -> None:
    execute = replace(SOLO.stages["execute"], routes={Outcome.ASKED: Route("resolve", 1)})
    pipeline = replace(SOLO, stages={**SOLO.stages, "execute": execute})
    run = end(at("execute"), Outcome.ASKED, pipeline)
    assert (run.phase, run.stage) == (Phase.QUEUED, "resolve")


def test_what_follows_a_limit_is_no_failure_where_the_route_names_it() -> None:
    verify = replace(SOLO.stages["verify"], routes={Outcome.REJECTED: Route("repair", 1, then="integrate")})
    pipeline = replace(SOLO, stages={**SOLO.stages, "verify": verify})
    once = end(at("verify"), Outcome.REJECTED, pipeline, evidence=Evidence("failed", fingerprint="a"))
    assert (once.stage, once.fingerprint) == ("repair", "a")
    spent, same = at("verify", rounds={"repair": 1}), at("verify", fingerprint="a")
    for run in (spent, same):
        after = end(run, Outcome.REJECTED, pipeline, evidence=Evidence("failed", fingerprint="a"))
        assert (after.phase, after.stage) == (Phase.QUEUED, "integrate")


def test_a_word_that_no_agent_hears_now_is_for_the_next_one() -> None:
    waiting = end(at("integrate"), Outcome.ASKED, reason="the branch is checked out")
    after = decide(waiting, Released("ada", NOON, "mind the hue"), SOLO).run
    assert (after.phase, after.notes) == (Phase.QUEUED, ("ada says: mind the hue",))
    waiting = end(at("execute"), Outcome.ASKED, reason="which hue?")
    after = decide(waiting, Released("ada", NOON, "blue"), SOLO).run
    assert (after.notes, after.evidence.word if after.evidence else "") == ((), "ada says: blue")
    crashed = end(at("integrate"), Outcome.CRASHED, reason="the forge says: no")
    assert crashed.evidence == Evidence("the forge says: no")


def test_a_completed_stage_may_name_what_follows() -> None:
    verify = replace(SOLO.stages["verify"], branches={"more": "execute", "over": END})
    pipeline = replace(SOLO, stages={**SOLO.stages, "verify": verify})
    names = {name: end(at("verify"), Outcome.COMPLETED, pipeline, branch=name) for name in ("more", "other", "")}
    assert {name: run.stage for name, run in names.items()} == {
        "more": "execute",
        "other": "integrate",
        "": "integrate",
    }
    assert end(at("verify"), Outcome.COMPLETED, pipeline, branch="over").is_ended


# Waits


def test_pauses_after_outages_grow_and_are_jittered_by_at_most_a_fifth() -> None:
    assert [pause.total_seconds() for pause in BACKOFF] == [5, 10, 20, 40, 60]
    run, pauses = at("execute"), []
    for pause in BACKOFF:
        run = end(run, Outcome.UNAVAILABLE, reason="overloaded")
        assert run.wait is not None
        assert (run.phase, run.wait.whom) == (Phase.WAITING, "")
        assert run.wait.until is not None
        pauses.append((run.wait.until - NOON) / pause)
        assert due(run) == StartAttempt(run.attempt + 1, "execute", run.wait.until)
        run = go_on(run)
    assert all(1 <= share <= 1.2 for share in pauses)
    assert len(set(pauses)) == len(pauses)
    assert failed(end(run, Outcome.UNAVAILABLE, reason="overloaded")) == "unavailable 6 times in a row: overloaded"


def test_parallel_runs_do_not_come_back_at_the_same_moment() -> None:
    ends = {end(at("execute", id=RunId(f"run-{n}")), Outcome.UNAVAILABLE).not_before for n in range(20)}
    assert len(ends) == 20


def test_a_service_that_says_when_to_come_back_is_left_alone_until_then() -> None:
    later = NOON + timedelta(hours=1)
    assert end(at("execute"), Outcome.UNAVAILABLE, retry_at=later).not_before == later
    soon = end(at("execute"), Outcome.UNAVAILABLE, retry_at=NOON - timedelta(hours=1)).not_before
    assert soon is not None
    assert soon >= NOON + BACKOFF[0]


def test_outages_in_a_row_are_counted_from_the_last_try_that_counted() -> None:
    assert end(at("execute", outages=4), Outcome.NO_PROGRESS).outages == 0
    assert end(at("execute", outages=4), Outcome.INTERRUPTED).outages == 4


def test_a_limit_is_not_held_against_the_run_and_its_conversation_goes_on() -> None:
    run = end(at("execute", session=SessionId("s"), agent="claude", tries=1, outages=2), Outcome.LIMITED)
    assert (run.phase, run.session, run.tries, run.outages) == (Phase.QUEUED, "s", 1, 2)


def test_an_account_at_its_limit_is_waited_for() -> None:
    queued, until = at("execute", phase=Phase.QUEUED), NOON + timedelta(hours=1)
    run = decide(queued, Deferred("claude", NOON, until, "limited"), SOLO).run
    assert run.wait is not None
    assert (run.phase, run.wait.reason, run.wait.whom) == (Phase.WAITING, "limited", "agent:claude")
    assert due(run) == StartAttempt(6, "execute", until)
    # The account may be limited again by then.
    later = decide(run, Deferred("claude", until, NOON, "still"), SOLO).run
    assert due(later) == StartAttempt(6, "execute", until + LEAST_PAUSE)
    refusal = decide(at("execute"), Deferred("claude", NOON, until), SOLO).refusal
    assert refusal == "no attempt is due that could be put off"


def test_a_conversation_is_gone_on_with_by_its_own_agent_alone() -> None:
    run = at("execute", phase=Phase.QUEUED, session=SessionId("s"), agent="claude")

    def start(agent: str) -> tuple[str | None, str]:
        after = decide(run, AttemptStarted(6, "execute", NOON, agent=agent), SOLO).run
        return after.session, after.agent

    assert start("claude") == ("s", "claude")
    assert start("codex") == (None, "codex")
    # A check in between has no agent, and changes nothing.
    assert start("") == ("s", "claude")


def test_a_question_is_waited_for_until_somebody_answers() -> None:
    run = end(at("execute"), Outcome.ASKED, reason="which port?")
    assert run.wait is not None
    assert (run.phase, run.wait.reason, run.wait.whom, run.wait.until) == (Phase.WAITING, "which port?", "person", None)
    assert due(run) is None
    released = decide(run, Released("ada", NOON, "8080"), SOLO).run
    assert due(released) == StartAttempt(6, "execute")
    assert released.evidence == Evidence("ada says: 8080", word="ada says: 8080")


def test_an_acceptance_is_about_the_commit_that_waits_and_no_other() -> None:
    seen, other = CommitId("a" * 40), CommitId("b" * 40)
    run = end(at("integrate"), Outcome.ASKED, reason="look at it", commit=seen, is_review=True)
    accepted = decide(run, Released("ada", NOON, accepted=seen), SOLO)
    assert (accepted.run.accepted, due(accepted.run) is not None) == (seen, True)
    refused = decide(run, Released("ada", NOON, accepted=other), SOLO)
    assert refused.refusal == f"its work is {'a' * 12} now, not {'b' * 12}"
    assert refused.run == run
    assert decide(run, Released("ada", NOON), SOLO).run.accepted is None
    question = end(at("execute"), Outcome.ASKED, reason="which port?", commit=seen)
    assert decide(question, Released("ada", NOON, accepted=seen), SOLO).refusal == "nobody has to look at its change"


def test_what_a_person_says_is_added_to_what_a_check_found() -> None:
    proof = Evidence("tests failed", command="pytest", hints=("AssertionError",))
    run = end(at("repair", evidence=proof), Outcome.ASKED)
    told = decide(run, Released("ada", NOON, "drop the test"), SOLO).run.evidence
    assert told == replace(proof, hints=("ada says: drop the test", "AssertionError"), word="ada says: drop the test")
    assert decide(run, Released("ada", NOON), SOLO).run.evidence == proof


# Ended from outside


def test_interruptions_are_forgiven_five_times_in_a_row() -> None:
    run = at("execute", session=SessionId("s"))
    for _ in range(MAX_INTERRUPTIONS):
        run = go_on(end(run, Outcome.INTERRUPTED))
    assert (run.session, run.tries) == ("s", 0)
    assert failed(end(run, Outcome.INTERRUPTED, reason="SIGTERM")) == "interrupted 6 times in a row: SIGTERM"


@pytest.mark.parametrize("outcome", [o for o in Outcome if o not in {Outcome.CANCELLED, Outcome.COMPLETED}])
def test_what_whilly_ended_itself_counts_for_nothing(outcome: Outcome) -> None:
    before = at("verify", tries=2, outages=5, interruptions=5, rounds={"repair": 3}, evidence=Evidence("e"))
    after = end(before, outcome, is_deliberate=True)
    assert after == replace(before, phase=Phase.QUEUED)


@pytest.mark.parametrize("run", [at("execute"), replace(at("execute"), phase=Phase.QUEUED)])
def test_a_person_can_cancel_at_any_time(run: Run) -> None:
    ended = decide(run, CancelRequested("ada", NOON, "not needed"), SOLO).run
    assert ended.ending is not None
    assert (ended.ending.status, ended.ending.reason) == (ItemStatus.SKIPPED, "cancelled by ada: not needed")


def test_a_stage_that_its_pipeline_has_lost_ends_the_run() -> None:
    assert failed(end(at("review"), Outcome.COMPLETED)) == "pipeline solo has no stage review any more"


# Refused


@pytest.mark.parametrize(
    ("run", "event", "refusal"),
    [
        (at("execute"), AttemptEnded(4, AttemptResult(Outcome.COMPLETED), NOON), "attempt 4 is not the current one"),
        (at("execute"), AttemptEnded(6, AttemptResult(Outcome.COMPLETED), NOON), "attempt 6 is not the current one"),
        (at("execute"), AttemptStarted(6, "execute", NOON), "attempt 5 is under way"),
        (at("execute"), Released("ada", NOON), "the run is running, it waits for nobody"),
        (
            replace(at("execute"), phase=Phase.QUEUED),
            AttemptEnded(5, AttemptResult(Outcome.COMPLETED), NOON),
            "attempt 5 is not the current one",
        ),
        (
            replace(at("execute"), phase=Phase.QUEUED),
            AttemptStarted(5, "execute", NOON),
            "attempt 6 of stage execute is due, not 5 of execute",
        ),
        (
            replace(at("execute"), phase=Phase.QUEUED),
            AttemptStarted(6, "verify", NOON),
            "attempt 6 of stage execute is due, not 6 of verify",
        ),
        (end(at("execute"), Outcome.ASKED, reason="which?"), AttemptStarted(6, "execute", NOON), "which?"),
        (end(at("execute"), Outcome.CANCELLED), CancelRequested("ada", NOON), "the run has ended as skipped"),
        (end(at("integrate"), Outcome.COMPLETED), AttemptStarted(6, "integrate", NOON), "the run has ended as done"),
    ],
)
def test_an_event_that_does_not_fit_is_refused_and_changes_nothing(run: Run, event: RunEvent, refusal: str) -> None:
    decision = decide(run, event, SOLO)
    assert decision.refusal == refusal
    assert decision.run is run
