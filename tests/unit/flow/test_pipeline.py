"""A pipeline in which a run would get lost is told apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from whilly.config.pipelines import load_pipelines
from whilly.domain.attempt import AttemptResult, Outcome
from whilly.domain.flow.event import AttemptEnded
from whilly.domain.flow.lifecycle import decide
from whilly.domain.flow.pipeline import END, Pipeline, Route, Stage
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import ItemId, PlanId, RunId

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)

SOUND = Pipeline(
    "p",
    "work",
    {
        "work": Stage("work", "check", role="developer"),
        "check": Stage("check", END, action="verify", routes={Outcome.REJECTED: Route("mend", 2)}),
        "mend": Stage("mend", "check", role="developer"),
    },
)


def changed(stage: str, **fields: object) -> Pipeline:
    stages = {**SOUND.stages, stage: replace(SOUND.stages[stage], **fields)}  # type: ignore[arg-type]  # the fields' names and types are the caller's
    return replace(SOUND, stages=stages)


def test_the_packaged_pipelines_have_no_problems() -> None:
    packaged = load_pipelines(Path("/nowhere"), max_attempts=3)
    assert {name: pipeline.problems() for name, pipeline in packaged.items()} == {"forge": [], "prd": [], "solo": []}


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.COMPLETED,
        Outcome.NO_PROGRESS,
        Outcome.CRASHED,
        Outcome.STALLED,
        Outcome.TIMED_OUT,
        Outcome.OVER_BUDGET,
    ],
)
@pytest.mark.parametrize("taken", [0, 1000])
def test_whatever_becomes_of_asking_for_an_opinion_it_is_weighed(outcome: Outcome, taken: int) -> None:
    forge = load_pipelines(Path("/nowhere"), max_attempts=3)["forge"]
    run = Run(
        RunId("r"), PlanId("p"), ItemId("i"), "forge", "opinion", Phase.RUNNING, attempt=1, rounds={"weigh": taken}
    )
    ended = decide(run, AttemptEnded(1, AttemptResult(outcome), at=NOON), forge).run
    assert (ended.stage, ended.phase) == ("weigh", Phase.QUEUED)


def test_a_loop_with_a_limit_is_sound() -> None:
    assert SOUND.problems() == []


@pytest.mark.parametrize(
    ("pipeline", "problem"),
    [
        (changed("work", role=""), "stage 'work': give it either a role or an action, not neither"),
        (changed("work", action="verify"), "stage 'work': give it either a role or an action, not both"),
        (changed("work", attempts=0), "stage 'work': attempts must be at least 1"),
        (changed("work", next="chekc"), "stage 'work': next leads to unknown 'chekc'"),
        (
            changed("check", routes={Outcome.REJECTED: Route("mend", 0)}),
            "stage 'check': the route on rejected needs a limit of at least 1",
        ),
        (
            changed("check", routes={Outcome.REJECTED: Route("men", 1)}),
            "stage 'check': on rejected leads to unknown 'men'",
        ),
        (changed("check", routes={Outcome.REJECTED: Route(END, 1)}), "stage 'check': on rejected leads to unknown ''"),
        (changed("check", routes={}), "stage 'mend' can never be reached"),
        (
            changed("check", next="work"),
            "stage 'work': it leads back to itself without a limit; use a route with a limit",
        ),
        (
            changed("work", next="work"),
            "stage 'work': it leads back to itself without a limit; use a route with a limit",
        ),
        (
            changed("work", branches={"small": "chekc"}),
            "stage 'work': branch small leads to unknown 'chekc'",
        ),
        (
            changed("check", branches={"again": "work"}),
            "stage 'work': it leads back to itself without a limit; use a route with a limit",
        ),
        (
            changed("check", routes={Outcome.REJECTED: Route("mend", 1, then="work")}),
            "stage 'work': it leads back to itself without a limit; use a route with a limit",
        ),
        (
            changed("check", routes={Outcome.REJECTED: Route("mend", 1, then="wrok")}),
            "stage 'check': after the limit on rejected leads to unknown 'wrok'",
        ),
        (replace(SOUND, first="begin"), "first stage 'begin' does not exist"),
        *(
            (
                changed("mend", routes={outcome: Route("work", 1)}),
                f"stage 'mend': {outcome} cannot have a route; it says nothing about the work",
            )
            for outcome in (
                Outcome.COMPLETED,
                Outcome.CANCELLED,
                Outcome.INTERRUPTED,
                Outcome.LIMITED,
                Outcome.UNAVAILABLE,
                Outcome.AUTH_FAILED,
            )
        ),
    ],
)
def test_what_would_lose_a_run_is_a_problem(pipeline: Pipeline, problem: str) -> None:
    assert problem in pipeline.problems()
