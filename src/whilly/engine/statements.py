"""Statements that every attempt needs, built once: building them anew takes longer than the database takes to answer.

Parameters that say which rows are meant are called `of_…`; the others have their column's name.
"""

from __future__ import annotations

import sqlalchemy as sa

from whilly.domain.flow.run import Phase
from whilly.engine.tables import accounts, attempts, events, plans, runs, spend, work_items


def _update(table: sa.Table, where: sa.ColumnElement[bool], *columns: str) -> sa.Update:
    return sa.update(table).where(where).values({name: sa.bindparam(name) for name in columns})


_OF_PLAN: sa.BindParameter[str] = sa.bindparam("of_plan")
_OF_RUN: sa.BindParameter[str] = sa.bindparam("of_run")
_THE_PLAN, _THE_RUN = plans.c.id == _OF_PLAN, runs.c.id == _OF_RUN
_THE_ITEM = (work_items.c.plan == _OF_PLAN) & (work_items.c.id == sa.bindparam("of_id"))
_THE_ATTEMPT = (attempts.c.run == _OF_RUN) & (attempts.c.number == sa.bindparam("of_number"))
_THE_SPEND = (spend.c.run == _OF_RUN) & (spend.c.number == sa.bindparam("of_number")) & spend.c.settled.is_(None)
_IS_OPEN = (runs.c.plan == _OF_PLAN) & (runs.c.is_closed == sa.false())

LOCK_PLAN = (
    sa.update(plans).where(_THE_PLAN).values(version=plans.c.version + 1).returning(plans.c.state, plans.c.version)
)
SINCE = sa.select(plans.c.created_at).where(_THE_PLAN)
STORE_PLAN = _update(plans, _THE_PLAN, "state", "phase")
SET_ITEM = _update(work_items, _THE_ITEM, "status", "reason")
BEGIN_ITEM = _update(work_items, _THE_ITEM, "run", "status", "reason")
REASON = sa.select(work_items.c.reason).where(_THE_ITEM)
RUN = sa.select(runs.c.state).where(_THE_RUN)
STORE_RUN = _update(runs, _THE_RUN, "phase", "stage", "state")
END_RUN = _update(runs, _THE_RUN, "phase", "stage", "state", "ended_at")
CLOSE_RUN = sa.update(runs).where(_THE_RUN).values(is_closed=True)
COUNT_RUNS = (
    sa.select(sa.func.count())
    .select_from(runs)
    .where(_IS_OPEN & runs.c.phase.in_(sa.bindparam("phases", expanding=True)))
)
_IS_OF_ITEM = (runs.c.plan == _OF_PLAN) & (runs.c.item == sa.bindparam("of_item"))
COUNT_OF_ITEM = sa.select(sa.func.count()).select_from(runs).where(_IS_OF_ITEM)
RUNS_IN_PHASE = sa.select(runs.c.state).where(_IS_OPEN & (runs.c.phase == sa.bindparam("of_phase")))
OPEN_RUNS = sa.select(runs.c.state).where(_IS_OPEN).order_by(runs.c.created_at, runs.c.id)
KEEP_CANDIDATE = _update(attempts, _THE_ATTEMPT, "candidate")
END_ATTEMPT = _update(attempts, _THE_ATTEMPT & attempts.c.outcome.is_(None), "ended_at", "outcome", "result").values(
    session=sa.func.coalesce(sa.bindparam("named", type_=attempts.c.session.type), attempts.c.session)
)
RESERVED = sa.select(spend.c.reserved).where(_THE_SPEND)
SETTLE = _update(spend, _THE_SPEND, "settled", "basis")
_SUMS = (sa.func.sum(spend.c.settled), sa.func.sum(sa.case((spend.c.settled.is_(None), spend.c.reserved))))
SPEND_OF_ALL = sa.select(*_SUMS)
SPEND_OF_ITEM = sa.select(*_SUMS).join(runs, runs.c.id == spend.c.run).where(_IS_OF_ITEM)
SPEND_SINCE = (
    sa.select(*_SUMS)
    .join(attempts, (attempts.c.run == spend.c.run) & (attempts.c.number == spend.c.number))
    .where(attempts.c.started_at >= sa.bindparam("of_day", type_=attempts.c.started_at.type))
)
SPEND = sa.select(*_SUMS).where(spend.c.plan == _OF_PLAN)
_NEXT = sa.select(sa.func.coalesce(sa.func.max(events.c.sequence), 0) + 1).where(events.c.run == _OF_RUN)
APPEND_ASIDE = sa.insert(events).values(sequence=0)
APPEND = sa.insert(events).values(sequence=_NEXT.scalar_subquery())
VERSION = sa.select(plans.c.version).where(_THE_PLAN)
STANDING = sa.select(plans.c.state, plans.c.version).where(_THE_PLAN)
ENDED = sa.select(runs.c.id).where(
    runs.c.id.in_(sa.bindparam("of_runs", expanding=True)) & (runs.c.phase == Phase.ENDED)
)
STOPPED = sa.select(runs.c.state).where(
    runs.c.id.in_(sa.bindparam("of_runs", expanding=True)) & runs.c.state.like('%"stop":"stopped by %')
)
"""A few too many are no harm: whoever reads them looks again."""
UNCLOSED = sa.select(runs.c.id).where(_IS_OPEN & (runs.c.phase == Phase.ENDED))
ACCOUNTS = sa.select(accounts).where(accounts.c.name.in_(sa.bindparam("of_names", expanding=True)))
STORE_ACCOUNT = _update(accounts, accounts.c.name == sa.bindparam("of_name"), "strikes", "since", "until", "reason")
BEGUN = sa.select(attempts.c.agent, attempts.c.started_at).where(_THE_ATTEMPT)
