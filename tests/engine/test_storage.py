"""What is stored is an API: schema, names, values. Each change of these tests is a change for everybody's ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.errors import ConfigError
from whilly.domain.flow import event
from whilly.domain.flow.plan_run import Limits, PlanPhase, PlanRun, StopReason
from whilly.domain.flow.run import Phase, Run
from whilly.domain.ids import ItemId, PlanId, RunId
from whilly.domain.plan import Plan
from whilly.domain.work_item import ItemStatus, Priority
from whilly.engine import codec, names
from whilly.engine.database import REVISION, is_current, migrate, open_database, snapshot, upgrade
from whilly.engine.ledger import Ledger
from whilly.engine.tables import metadata
from whilly.testing.office import PLAN
from whilly.testing.world import Scene, item, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from whilly.adapters.memory.sessions import Play
    from whilly.testing.office import Office
    from whilly.testing.world import World

STORED = (
    Run,
    PlanRun,
    Plan,
    AttemptResult,
    event.AttemptStarted,
    event.AttemptEnded,
    event.CancelRequested,
    event.BudgetSpent,
    event.Deferred,
    event.Released,
)
"""Every type that is kept as JSON."""


# Schema


@pytest.fixture(params=["sqlite", "postgres"])
def blank(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], sa.Engine]]:
    """Makes databases without a single table."""
    made: list[sa.Engine] = []

    def make(name: str) -> sa.Engine:
        url = f"sqlite:///{tmp_path / name}"
        if request.param == "postgres":
            server = request.getfixturevalue("postgres")
            admin = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
            with admin.connect() as connection:
                connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
                connection.execute(sa.text(f"CREATE DATABASE {name}"))
            url = sa.make_url(server).set(database=name).render_as_string(hide_password=False)
        made.append(open_database(url))
        return made[-1]

    yield make
    for database in made:
        database.dispose()


def describe(database: sa.Engine) -> dict[str, Any]:
    """Tables, columns, keys and indexes, as the database itself tells."""
    look = sa.inspect(database)
    return {
        table: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"], str(column["default"]).split("::")[0])
                for column in look.get_columns(table)
            },
            "key": look.get_pk_constraint(table)["constrained_columns"],
            "foreign": sorted(
                (key["constrained_columns"], key["referred_table"], key["options"].get("ondelete"))
                for key in look.get_foreign_keys(table)
            ),
            "indexes": sorted((index["name"], index["column_names"]) for index in look.get_indexes(table)),
        }
        for table in sorted(look.get_table_names())
    }


def test_the_migrations_lead_to_the_tables_that_the_code_knows(blank: Callable[[str], sa.Engine]) -> None:
    afresh, migrated = blank("afresh"), blank("migrated")
    migrate(afresh)
    upgrade(migrated)
    assert describe(afresh) == describe(migrated)
    with migrated.connect() as tx:
        assert compare_metadata(MigrationContext.configure(tx), metadata) == []
    assert is_current(afresh)
    assert is_current(migrated)


def test_a_ledger_is_made_once_and_then_left_alone(blank: Callable[[str], sa.Engine]) -> None:
    database = blank("once")
    assert not is_current(database)
    migrate(database)
    before = describe(database)
    migrate(database)
    assert describe(database) == before


@pytest.mark.parametrize("how", [migrate, upgrade])
def test_a_ledger_that_was_half_made_is_made_anew(
    blank: Callable[[str], sa.Engine], how: Callable[[sa.Engine], None]
) -> None:
    for statements in (1, 4, 9):
        database = blank(f"half{statements}")
        made = iter(range(statements))

        def fall(*told: Any, made: Iterator[int] = made) -> None:  # noqa: ANN401  (SQLAlchemy's arguments)
            if "CREATE" in told[2] and next(made, None) is None:
                message = "killed here"
                raise RuntimeError(message)

        sa.event.listen(database, "before_cursor_execute", fall)
        with pytest.raises(RuntimeError, match="killed here"):
            how(database)
        sa.event.remove(database, "before_cursor_execute", fall)
        assert sa.inspect(database).get_table_names() == []
        migrate(database)
        assert is_current(database)


def test_reads_within_a_snapshot_see_one_moment(office: Office, world: World) -> None:
    office.import_items(item("A"))
    versions = sa.select(sa.func.sum(metadata.tables["plans"].c.version))
    with snapshot(office.database) as tx:
        before = tx.scalar(versions)
        Ledger(office.database, world.clock, world.pipelines, None, world.passed.append).refresh(PLAN, 1)
        assert tx.scalar(versions) == before
    with snapshot(office.database) as tx:
        assert tx.scalar(versions) == before + 1


def test_a_ledger_of_a_newer_whilly_is_refused_with_what_to_do(blank: Callable[[str], sa.Engine]) -> None:
    database = blank("newer")
    migrate(database)
    with database.begin() as tx:
        tx.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigError, match="another version of Whilly") as raised:
        migrate(database)
    assert raised.value.remedy == "upgrade Whilly, or move the ledger away"


# Names


def test_stored_names_never_change() -> None:
    stored = "attempt_ended attempt_handed_over attempt_started budget_spent cancel_requested deferred released"
    assert sorted(event.type_names) == [*stored.split(), "stop_requested", "told"]
    assert (names.APPLICATION, names.APPLICATION_VERSION, names.EXECUTOR) == ("whilly", "1", "solo")
    assert (names.DRIVE_WORKFLOW, names.RUNS_QUEUE, REVISION) == ("drive_run", "runs", "0002")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Phase, "queued running waiting ended"),
        (PlanPhase, "idle active stopping"),
        (StopReason, "interrupted timeout budget auth iterations"),
        (ItemStatus, "pending in_progress done failed skipped blocked human_loop"),
        (Priority, "critical high medium low"),
        (
            Outcome,
            (
                "completed no_progress limited auth_failed stalled timed_out over_budget unavailable crashed "
                "interrupted cancelled asked conflict rejected blocked partial given_up"
            ),
        ),
    ],
)
def test_stored_values_never_change(kind: type[Any], values: str) -> None:
    assert [str(member) for member in kind] == values.split()


def test_tables_and_columns_are_only_added() -> None:
    known = {
        "plans": "id name source definition digest phase state version created_at begun_at ended_at",
        "work_items": "plan id position status reason run",
        "runs": "id plan item phase stage state is_closed created_at ended_at",
        "attempts": "run number stage agent session candidate started_at ended_at outcome result",
        "spend": "run number plan reserved settled basis",
        "accounts": "name strikes since until reason",
        "events": "id plan run item sequence type at data",
    }
    assert {name: " ".join(table.columns.keys()) for name, table in metadata.tables.items()} == known


# Values


TEXTS = st.text(st.characters(), max_size=20)
"""Every text, lone surrogates included."""
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES: dict[object, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(-(2**40), 2**40),
    bool: st.booleans(),
    datetime: st.datetimes(timezones=st.just(UTC)),
    Decimal: st.decimals(0, 10**6, places=6),
    NoneType: st.none(),
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401  (any annotation)
    """Values of an annotation that stored types use."""
    kind = getattr(kind, "__supertype__", kind)
    if kind in VALUES:
        return VALUES[kind]
    if arguments := get_args(kind):
        return values_of_generic(get_origin(kind), arguments)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{each.name: values_of(hints[each.name]) for each in fields(kind)})
    return st.sampled_from(list(kind))


def values_of_generic(origin: object, arguments: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    inner = [values_of(each) for each in arguments if each is not ...]
    if origin is tuple:
        return st.lists(inner[0], max_size=3).map(tuple)
    if origin is Mapping:
        # Keys are ids and names, which plan files and pipelines are refused for when they are no text.
        return st.dictionaries(NAMES if inner[0] is TEXTS else inner[0], inner[1], max_size=3)
    return st.one_of(inner)


@pytest.mark.parametrize("kind", STORED)
def test_what_is_stored_comes_back_as_it_was(kind: type[Any]) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(value=values_of(kind))
    def come_back(value: object) -> None:
        assert codec.load(kind, codec.dump(value)) == value

    come_back()


@pytest.mark.parametrize("kind", STORED)
def test_what_an_older_whilly_stored_can_still_be_read(kind: type[Any]) -> None:
    """Fields that came since have defaults; a field without one can never be added."""
    needed = {
        Run: {"id", "plan", "item", "pipeline", "stage"},
        PlanRun: {"plan"},
        Plan: {"id", "name", "slug", "source", "items"},
        AttemptResult: {"outcome"},
        event.AttemptStarted: {"number", "stage", "at"},
        event.AttemptEnded: {"number", "result", "at"},
        event.CancelRequested: {"by", "at"},
        event.Released: {"by", "at"},
        event.Deferred: {"account", "at", "until"},
        event.BudgetSpent: {"at", "reason"},
    }
    required = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    assert required == needed[kind]


def test_fields_of_a_newer_whilly_are_passed_over() -> None:
    run = Run(RunId("r"), PlanId("p"), ItemId("T"), "solo", "execute")
    newer = json.loads(codec.dump(run)) | {"mood": "good"}
    assert codec.load(Run, json.dumps(newer)) == run


def test_a_run_of_the_first_ledger_can_be_read() -> None:
    first = '{"id":"r","plan":"p","item":"T-1","pipeline":"solo","stage":"verify","phase":"running","attempt":2}'
    run = codec.load(Run, first)
    assert (run.phase, run.attempt, run.tries, run.rounds) == (Phase.RUNNING, 2, 0, {})


def test_paths_that_are_not_utf8_survive() -> None:
    result = AttemptResult(Outcome.CONFLICT, "in \udcff.txt", evidence=Evidence("x", paths=("\udcff.txt", "é")))
    text = codec.dump(result)
    assert text.isascii()
    assert codec.load(AttemptResult, text) == result


def test_text_that_no_database_takes_is_written_out() -> None:
    assert codec.make_plain("a\0b\udcff é 🜚") == "a\\0b\\udcff é 🜚"


def test_odd_text_goes_through_the_whole_engine(office: Office, world: World) -> None:
    odd = "weird \0 \udcff \u202e 🜚 $(id) '; DROP TABLE runs; --" + "x" * 5000

    def fail(_scene: Scene) -> Play:
        return say(Outcome.ASKED, "which \\ud800 \\u0000 one?")

    world.scripts["A", 1] = fail
    office.import_items(item("A"), item("B"))
    office.run()
    office.ledger.cancel(PLAN, ItemId("A"), odd, odd)
    assert office.records.statuses() == {"A": "skipped", "B": "done"}
    assert "$(id)" in office.records.reason("A")
    assert office.records.events("cancel_requested")[0]["by"] == odd


def test_money_is_exact() -> None:
    limits = Limits(budget=Decimal("0.1") + Decimal("0.2"))
    state = PlanRun(PLAN, limits=limits)
    assert codec.load(PlanRun, codec.dump(state)).limits.budget == Decimal("0.3")
