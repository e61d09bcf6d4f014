"""Surveys a ledger that may be damaged, old or new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from whilly.application.survey import KnownPlan, KnownRun, LedgerState, Survey
from whilly.domain.errors import ConfigError
from whilly.domain.flow.run import Run
from whilly.domain.work_item import ItemStatus
from whilly.engine import codec
from whilly.engine.database import REVISION, open_database
from whilly.engine.reading import Reading
from whilly.engine.sqlite.address import find_file
from whilly.engine.tables import runs

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.application.telling.rows import PlanRow

MAX_CHECKED = 64 * 1024 * 1024
"""Bytes of an SQLite file up to which all of it is checked: within a second, also from a slow disk."""

_OVER = {ItemStatus.DONE, ItemStatus.SKIPPED}


def survey_ledger(url: str) -> Survey:
    """What the ledger at `url` is like and holds; never raises for what is wrong with it."""
    try:
        engine = open_database(url)
    except ConfigError as error:
        return Survey(LedgerState.UNREADABLE, _without_password(error.message, url))
    try:
        return _survey(engine)
    except sa.exc.DBAPIError as error:
        # DB-API 2.0: what the database could not do is an operational error; everything else is about what is in it.
        is_out_of_reach = isinstance(error, sa.exc.OperationalError)
        state = LedgerState.UNREADABLE if is_out_of_reach else LedgerState.DAMAGED
        return Survey(state, _without_password(str(error.orig).strip(), url))
    except (ValueError, LookupError) as error:
        # A row that this version's values cannot be made of.
        return Survey(LedgerState.DAMAGED, f"a row cannot be read: {str(error).splitlines()[0]}")
    finally:
        engine.dispose()


def _survey(engine: sa.Engine) -> Survey:
    path = find_file(engine.url)
    if path is not None and not path.exists():
        return Survey(LedgerState.ABSENT)
    if path is not None and path.stat().st_size == 0:
        # Even opening it would write to it.
        return Survey(LedgerState.OUTDATED, "it is empty")
    with engine.connect() as tx:
        fault = _find_damage(tx, path)
        revision = "" if fault else _find_revision(tx)
    if fault or revision != REVISION:
        return _explain(fault, revision)
    reading = Reading(engine, {})
    plans = tuple(_plan(reading, row) for row in reading.plans())
    return Survey(LedgerState.CURRENT, plans=plans, runs=_runs(engine))


def _explain(fault: str, revision: str) -> Survey:
    if fault:
        return Survey(LedgerState.DAMAGED, fault)
    if not revision:
        return Survey(LedgerState.OUTDATED, "it has no tables yet")
    state = LedgerState.OUTDATED if revision < REVISION else LedgerState.NEWER
    return Survey(state, f"its schema is {revision}, this version has {REVISION}")


def _find_damage(tx: sa.Connection, path: Path | None) -> str:
    if path is None or path.stat().st_size > MAX_CHECKED:
        return ""
    said = tx.scalar(sa.text("PRAGMA quick_check(1)"))
    return "" if said == "ok" else str(said)


def _find_revision(tx: sa.Connection) -> str:
    if not sa.inspect(tx).has_table("alembic_version"):
        return ""
    return str(tx.scalar(sa.text("SELECT version_num FROM alembic_version")) or "")


def _plan(reading: Reading, row: PlanRow) -> KnownPlan:
    is_over = set(reading.counts(row.id)) <= _OVER
    return KnownPlan(row.id, row.name, row.source, row.state.phase, row.state.target, is_over)


def _runs(engine: sa.Engine) -> tuple[KnownRun, ...]:
    with engine.connect() as tx:
        rows = [(codec.load(Run, row.state), row.is_closed) for row in tx.execute(sa.select(runs))]
    return tuple(KnownRun(run.id, run.item, run.attempt, run.is_ended, is_closed) for run, is_closed in rows)


def _without_password(text: str, url: str) -> str:
    """The text without the password of the database's address, nor the address where it cannot be taken apart."""
    try:
        password = sa.make_url(url).password
    except sa.exc.ArgumentError:
        return text.replace(url, "<the address>")
    return text.replace(str(password), "<redacted>") if password else text
