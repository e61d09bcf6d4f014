"""The ledger by itself: what it refuses, what it remembers, what happens when it cannot be written."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from whilly.domain.attempt import AttemptResult, Outcome, Usage
from whilly.domain.errors import RuleViolation, Unavailable
from whilly.domain.flow.plan_run import Hold, Limits
from whilly.domain.ids import CommitId, ItemId, PlanId, SessionId
from whilly.domain.session import Exit
from whilly.engine.driving.patience import PAUSES, patiently
from whilly.engine.ledger import Claimed, Ledger, Offer
from whilly.testing.office import PLAN, Office
from whilly.testing.world import World, hang, item

if TYPE_CHECKING:
    from collections.abc import Callable

    from whilly.domain.flow.run import Run

DONE = AttemptResult(Outcome.COMPLETED, commit=CommitId("c" * 40))
AGENT = Offer("demo", Decimal(1), base=CommitId("b" * 40))
ACTION = Offer()


def begin(office: Office, *names: str, **limits: Any) -> None:  # noqa: ANN401  (the fields of `Limits`)
    """Work on paper: nothing is driven."""
    office.import_items(*(item(name) for name in names))
    office.ledger.begin(PLAN, Limits(**limits), base="main", target="main")


def run_of(office: Office, name: str) -> Run:
    run = next(row.run for row in office.records.reading.items(PLAN) if row.item.id == name)
    assert run is not None
    return run


def claim(office: Office, name: str, offer: Offer = AGENT) -> Claimed | Hold:
    return office.ledger.claim(run_of(office, name).id, PLAN, offer)


def standing(office: Office) -> tuple[Run, int, int]:
    reading = office.records.reading
    return run_of(office, "A"), reading.version(PLAN), len(reading.events(PLAN))


def to_integration(office: Office, name: str) -> Run:
    for offer in (AGENT, ACTION):
        claim(office, name, offer)
        run = run_of(office, name)
        office.ledger.end_attempt(run.id, PLAN, run.attempt, DONE)
    claim(office, name, ACTION)
    return run_of(office, name)


def test_an_attempt_is_claimed_once(office: Office) -> None:
    begin(office, "A")
    first, second = claim(office, "A"), claim(office, "A")
    assert isinstance(first, Claimed)
    assert first.event.number == 1
    assert second == Hold("nothing is due for this run")


def test_a_late_result_changes_nothing_but_what_was_spent(office: Office) -> None:
    begin(office, "A")
    claim(office, "A")
    run = run_of(office, "A")
    office.ledger.end_attempt(run.id, PLAN, 1, AttemptResult(Outcome.CRASHED))
    claim(office, "A")
    before = run_of(office, "A")
    assert office.ledger.end_attempt(run.id, PLAN, 1, DONE) == before
    assert run_of(office, "A") == before
    rows = office.records.attempts("A")
    assert [(row.number, row.result.outcome if row.result else None) for row in rows] == [(1, "crashed"), (2, None)]


def test_what_a_conversation_was_booked_with_is_remembered(office: Office) -> None:
    begin(office, "A")
    for number, (session, tokens) in enumerate((("one", 10), ("two", 100), ("two", 1000)), start=1):
        claim(office, "A")
        before = office.records.reading.position(run_of(office, "A").id)
        usage = Usage(Decimal(1), tokens, 2 * tokens, turns=1)
        result = AttemptResult(Outcome.INTERRUPTED, usage=usage, session=SessionId(session))
        after = office.ledger.end_attempt(before.run.id, PLAN, number, result)
        booked = office.records.reading.position(after.id).booked
        assert before.ended(after, before.stage, result).booked == booked
    assert office.records.reading.position(run_of(office, "A").id).booked.usage.tokens == (1100, 2200, 0, 0)


def test_reservations_that_stand_for_a_conversation_are_remembered_until_it_tells_its_tokens(office: Office) -> None:
    begin(office, "A")
    told = Usage(Decimal("0.5"), 1000, 50, turns=1)
    refused = Usage(Decimal(0))
    found = []
    for number, usage in enumerate((None, None, refused, told, None), start=1):
        claim(office, "A")
        before = office.records.reading.position(run_of(office, "A").id)
        result = AttemptResult(Outcome.INTERRUPTED, usage=usage, session=SessionId("one"))
        after = office.ledger.end_attempt(before.run.id, PLAN, number, result)
        booked = office.records.reading.position(after.id).booked
        assert before.ended(after, before.stage, result).booked == booked
        found.append(booked.deposit / before.reserved)
    assert found == [1, 2, 2, 0, 1]


def test_never_more_attempts_than_slots_even_when_there_are_fewer_than_before(office: Office) -> None:
    begin(office, "A", "B", parallel=2)
    office.ledger.begin(PLAN, Limits(parallel=1), base="main", target="main")
    assert isinstance(claim(office, "A"), Claimed)
    assert claim(office, "B") == Hold("all 1 slots are taken")


def test_what_is_about_to_be_integrated_cannot_be_cancelled(office: Office) -> None:
    begin(office, "A")
    run = to_integration(office, "A")
    assert office.ledger.keep_candidate(run.id, PLAN, run.attempt, CommitId("d" * 40))
    said = office.ledger.cancel(PLAN, ItemId("A"), "ada")
    assert said == "A is being integrated; `whilly run` brings that to its end if nobody does"
    office.ledger.end_attempt(run.id, PLAN, run.attempt, DONE)
    assert office.records.statuses() == {"A": "done"}


def test_what_was_cancelled_cannot_be_integrated_any_more(office: Office) -> None:
    begin(office, "A")
    run = to_integration(office, "A")
    assert office.ledger.cancel(PLAN, ItemId("A"), "ada") == ""
    assert not office.ledger.keep_candidate(run.id, PLAN, run.attempt, CommitId("d" * 40))
    office.ledger.end_attempt(run.id, PLAN, run.attempt, DONE)
    assert office.records.statuses() == {"A": "skipped"}


def test_a_superseded_attempt_cannot_integrate(office: Office) -> None:
    begin(office, "A")
    run = to_integration(office, "A")
    office.ledger.end_attempt(run.id, PLAN, run.attempt, AttemptResult(Outcome.CRASHED))
    claim(office, "A", ACTION)
    assert not office.ledger.keep_candidate(run.id, PLAN, run.attempt, CommitId("d" * 40))
    assert office.ledger.keep_candidate(run.id, PLAN, run.attempt + 1, CommitId("d" * 40))


def test_the_reservation_of_an_open_attempt_is_not_free_for_others(office: Office) -> None:
    begin(office, "A", "B", budget=Decimal(1))
    claim(office, "A")
    assert claim(office, "B") == Hold("the rest of the budget is reserved by attempts under way")
    run = run_of(office, "A")
    office.ledger.end_attempt(run.id, PLAN, 1, DONE)
    assert office.records.state().stop == "budget"


def test_a_plan_that_nobody_knows_is_a_clear_refusal(office: Office) -> None:
    with pytest.raises(RuleViolation, match="plan nope is not in the ledger"):
        office.ledger.cancel(PlanId("nope"), ItemId("A"), "ada")


def test_a_change_that_fails_half_way_leaves_nothing(office: Office, world: World) -> None:
    begin(office, "A")

    def fall(name: str) -> None:
        if name == "claim:inside":
            message = "here"
            raise RuntimeError(message)

    falling = Ledger(office.database, world.clock, world.pipelines, None, fall)
    before = standing(office)
    with pytest.raises(RuntimeError, match="here"):
        falling.claim(run_of(office, "A").id, PLAN, AGENT)
    assert (
        run_of(office, "A"),
        office.records.reading.version(PLAN),
        len(office.records.reading.events(PLAN)),
    ) == before
    assert isinstance(claim(office, "A"), Claimed)


async def test_the_ledger_is_asked_again_while_it_fails() -> None:
    answers: list[Exception | str] = [OperationalError("", {}, Exception("locked")), OSError(28, "full"), "here"]

    def ask(word: str) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer + word

    assert await patiently(ask, "!") == "here!"
    assert len(PAUSES) >= 2


async def test_a_mistake_is_not_made_again() -> None:
    asked = []

    def ask() -> None:
        asked.append(1)
        raise RuleViolation("no")  # noqa: EM101  (a test)

    with pytest.raises(RuleViolation):
        await patiently(ask)
    assert len(asked) == 1


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_full_disk_ends_the_run_with_a_remedy_and_nothing_is_lost(
    open_office: Callable[..., Office], world: World
) -> None:
    world.scripts["A", 1] = hang
    office = open_office()
    office.import_items(item("A"), item("B"))
    office.begin()
    office.wait_for_session("A")
    office.wait(lambda: office.records.statuses()["B"] == "done")
    home = office.records.home("A", 1)
    _fill(office.database)
    world.sessions.finish(home, Exit(code=0))
    with pytest.raises(Unavailable, match=r"the ledger .*cannot be read or written") as raised:
        office.finish()
    assert "free some disk space" in raised.value.remedy
    again = open_office()
    again.run()
    assert again.records.statuses() == {"A": "done", "B": "done"}
    assert again.records.story("A") == ["execute completed", "verify completed", "integrate completed"]
    assert sorted(world.integrated()) == ["A", "B"]


def _fill(database: sa.Engine) -> None:
    """No page more for this database, as on a full disk."""

    def limit(connection: Any, *_: object) -> None:  # noqa: ANN401  (the binding's connection)
        connection.execute("PRAGMA max_page_count=1").close()

    sa.event.listen(database, "checkout", limit)
