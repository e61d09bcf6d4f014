"""Changes to what a plan holds: import it, try items again, start all over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from whilly.domain.flow.event import CancelRequested, Released, StopRequested, Told
from whilly.domain.flow.lifecycle import decide
from whilly.domain.ids import CommitId, ItemId
from whilly.domain.work_item import ItemStatus
from whilly.engine import codec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whilly.domain.flow.pipeline import Pipeline
    from whilly.domain.ids import PlanId
    from whilly.domain.plan import Plan
    from whilly.domain.work_item import WorkItem
    from whilly.engine.ledger import Ledger
    from whilly.engine.plan_unit import PlanUnit

RETRIABLE = (ItemStatus.FAILED, ItemStatus.BLOCKED, ItemStatus.SKIPPED, ItemStatus.HUMAN_LOOP)


@dataclass(frozen=True, slots=True)
class Imported:
    """What importing a plan changed."""

    added: tuple[ItemId, ...]
    dropped: tuple[ItemId, ...]


@final
class Planning:
    """Changes to the items of plans."""

    def __init__(self, ledger: Ledger, pipelines: Mapping[str, Pipeline]) -> None:
        self._ledger = ledger
        self._pipelines = pipelines

    def import_plan(self, plan: Plan) -> Imported:
        """Make the ledger's items those of `plan`. A known item keeps the ledger's status, whatever the file says."""
        with self._ledger.unit("import", plan.id, plan) as unit:
            known = unit.tx.items.statuses(plan.id)
            wanted = {item.id: place for place, item in enumerate(plan.items)}
            added = [item for item in wanted if item not in known]
            dropped = [item for item in known if item not in wanted]
            unit.tx.items.add(plan.id, [_new_row(plan, item, wanted[item]) for item in added])
            for place, item in enumerate(known):
                if item in wanted and wanted[item] != place:
                    unit.tx.items.move(plan.id, item, wanted[item])
            for item in dropped:
                self._end_run(unit, item, "it is not in the plan any more")
            unit.tx.items.drop(plan.id, dropped)
            unit.forget_frontier()
            self._unblock(unit)
            if added or dropped:
                unit.note("plan_imported", added=len(added), dropped=dropped)
            return Imported(tuple(added), tuple(dropped))

    def add_parts(self, plan: PlanId, parts: Sequence[WorkItem]) -> None:
        """Make parts of an item items of its plan, behind the others; what the plan has already stays as it is."""
        with self._ledger.unit("add_parts", plan) as unit:
            definition = unit.tx.plans.definition(plan)
            known = {item.id for item in definition.items}
            added = tuple(part for part in parts if part.id not in known)
            if not added:
                return
            whole = replace(definition, items=(*definition.items, *added))
            unit.tx.plans.put(whole)
            rows = [_new_row(whole, part.id, place) for place, part in enumerate(added, len(known))]
            unit.tx.items.add(plan, rows)
            unit.forget_frontier()
            unit.note("parts_added", item=added[0].parent, parts=[part.id for part in added])

    def retry(self, plan: PlanId, item: ItemId, by: str, note: str = "") -> str:
        """Let an item that failed, was skipped or waits for a person go on; empty, or why that cannot be."""
        with self._ledger.unit("retry", plan) as unit:
            status = dict(unit.tx.items.statuses(plan)).get(item)
            run = unit.tx.runs.find_current(plan, item)
            if status is None:
                return f"there is no {item} in the plan"
            if run is not None and not run.is_ended:
                refusal = self._ledger.tell(unit, run, Released(by, unit.tx.now, note))
            elif status not in RETRIABLE:
                refusal = f"{item} is {status}; only failed, blocked, skipped and waiting items can be tried again"
            else:
                refusal = ""
                unit.tx.items.set(plan, [(item, ItemStatus.PENDING, f"{by} says: {note}" if note else "")])
                unit.note("retry_requested", item=item, by=by, note=note)
                unit.forget_frontier()
                self._unblock(unit)
            for part in unit.parts_of(item) if note and not refusal else ():
                self._retry_part(unit, part, by, note)
            return refusal

    def _retry_part(self, unit: PlanUnit, part: ItemId, by: str, note: str) -> None:
        """What a person says to the whole is meant for those of its parts that are not done."""
        plan = unit.state.plan
        run, status = unit.tx.runs.find_current(plan, part), unit.tx.items.statuses(plan)[part]
        if run is not None and not run.is_ended:
            self._ledger.tell(unit, run, Told(by, unit.tx.now, note))
        elif status in {ItemStatus.FAILED, ItemStatus.PENDING}:
            unit.tx.items.set(plan, [(part, ItemStatus.PENDING, f"{by} says: {note}")])
            unit.forget_frontier()
            self._unblock(unit)

    def accept(self, plan: PlanId, item: ItemId, by: str, commit: str, note: str = "") -> str:
        """Let an item go on whose change a person has looked at; empty, or why that cannot be.

        Args:
            plan: where it is.
            item: what was looked at.
            by: who did.
            commit: the name of what they saw, or its beginning.
            note: something to say.
        """
        with self._ledger.unit("accept", plan) as unit:
            run = unit.tx.runs.find_current(plan, item)
            if run is None or run.is_ended:
                return "there is no change of it that waits"
            review = run.wait.review if run.wait else None
            seen = review if review and review.startswith(commit) else CommitId(commit)
            return self._ledger.tell(unit, run, Released(by, unit.tx.now, note, accepted=seen))

    def stop_attempt(self, plan: PlanId, item: ItemId, by: str, reason: str = "") -> str:
        """End what is being done for an item; it then waits for a person. Empty, or why that cannot be."""
        with self._ledger.unit("stop_attempt", plan) as unit:
            run = unit.tx.runs.find_current(plan, item)
            if run is None or run.is_ended:
                return f"nothing is being done for {item}"
            refusal = self._ledger.tell(unit, run, StopRequested(by, unit.tx.now, reason))
            if not refusal:
                self._stop_parts(unit, item, by)
            return refusal

    def _stop_parts(self, unit: PlanUnit, whole: ItemId, by: str) -> None:
        """The parts of what is stopped: none begins, and those under way are stopped as well."""
        plan, said, parts = unit.state.plan, f"{whole} was stopped", unit.parts_of(whole)
        pending = set(unit.tx.items.find(plan, ItemStatus.PENDING))
        unit.tx.items.set(plan, [(part, ItemStatus.HUMAN_LOOP, f"{said} by {by}") for part in parts if part in pending])
        for part in parts:
            run = unit.tx.runs.find_current(plan, part)
            if run is not None and not run.is_ended:
                self._ledger.tell(unit, run, StopRequested(by, unit.tx.now, said))
        unit.forget_frontier()

    def say(self, plan: PlanId, item: ItemId, by: str, note: str) -> str:
        """Tell whoever works on an item next; empty, or why that cannot be."""
        with self._ledger.unit("tell", plan) as unit:
            status = dict(unit.tx.items.statuses(plan)).get(item)
            run = unit.tx.runs.find_current(plan, item)
            if status is None:
                return f"there is no {item} in the plan"
            if run is not None and not run.is_ended:
                for part in unit.parts_of(item):
                    self._tell_part(unit, part, by, note)
                return self._ledger.tell(unit, run, Told(by, unit.tx.now, note))
            if status is not ItemStatus.PENDING:
                return f"{item} is {status}: nobody will work on it"
            said = unit.tx.items.reason(plan, item)
            unit.tx.items.set(plan, [(item, status, f"{said}\n{by} says: {note}".lstrip())])
            unit.note("item_told", item=item, by=by, note=note)
            return ""

    def _tell_part(self, unit: PlanUnit, part: ItemId, by: str, note: str) -> None:
        plan = unit.state.plan
        run = unit.tx.runs.find_current(plan, part)
        if run is not None and not run.is_ended:
            self._ledger.tell(unit, run, Told(by, unit.tx.now, note))
        elif run is None and part in unit.tx.items.find(plan, ItemStatus.PENDING):
            said = unit.tx.items.reason(plan, part)
            unit.tx.items.set(plan, [(part, ItemStatus.PENDING, f"{said}\n{by} says: {note}".lstrip())])

    def reset(self, plan: PlanId) -> int:
        """Every item is pending again; what was spent and what has happened stays. How many were not pending."""
        with self._ledger.unit("reset", plan) as unit:
            changed = [
                item for item, status in unit.tx.items.statuses(plan).items() if status is not ItemStatus.PENDING
            ]
            for item in changed:
                self._end_run(unit, item, "the plan was reset")
            unit.tx.items.set(plan, [(item, ItemStatus.PENDING, "") for item in changed])
            unit.note("plan_reset", items=len(changed))
            unit.forget_frontier()
            return len(changed)

    def _end_run(self, unit: PlanUnit, item: ItemId, reason: str) -> None:
        run = unit.tx.runs.find_current(unit.state.plan, item)
        if run is None or run.is_ended:
            return
        event = CancelRequested("whilly", unit.tx.now, reason)
        ended = decide(run, event, self._pipelines[run.pipeline]).run
        unit.tx.append("cancel_requested", run.plan, codec.dump(event), run=run)
        unit.tx.runs.store(ended)
        unit.note("run_ended", run=ended, status=ItemStatus.SKIPPED, reason=reason, commit=None)
        unit.drive(ended)

    def _unblock(self, unit: PlanUnit) -> None:
        """Look again at every blocked item: only those that still cannot start stay blocked."""
        plan = unit.state.plan
        unit.tx.items.set(
            plan, [(item, ItemStatus.PENDING, "") for item in unit.tx.items.find(plan, ItemStatus.BLOCKED)]
        )
        blocked = unit.frontier.blocked
        unit.tx.items.set(plan, [(item, ItemStatus.BLOCKED, why) for item, why in blocked])


def _new_row(plan: Plan, item: ItemId, position: int) -> Mapping[str, object]:
    """A new item begins as its file says, but nobody can be working on it yet."""
    status = plan.statuses.get(item, ItemStatus.PENDING)
    if status in {ItemStatus.IN_PROGRESS, ItemStatus.BLOCKED}:
        status = ItemStatus.PENDING
    reason = "" if status is ItemStatus.PENDING else f"{status} in the plan file"
    return {"id": item, "position": position, "status": status, "reason": reason}
