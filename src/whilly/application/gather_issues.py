"""Everything that an import has to know of a tracker: what was asked for, and what became of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whilly.domain.errors import NotFound
from whilly.domain.forge.issue import Issue, IssueState
from whilly.domain.intake.task_name import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whilly.domain.forge.issue import IssueQuery
    from whilly.domain.forge.reference import IssueRef
    from whilly.ports.tracker import Tracker


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found.

    Attributes:
        issues: the open ones with their comments.
        is_complete: nothing that was asked for is missing.
        notes: what people should know about the rest.
    """

    issues: tuple[Issue, ...]
    is_complete: bool
    notes: tuple[str, ...]


async def gather_issues(
    tracker: Tracker, queries: Sequence[IssueQuery], named: Iterable[IssueRef], pending: Iterable[IssueRef]
) -> Gathered:
    """The issues that fit the queries, those that are named, and those of pending tasks that were closed since.

    A list without comments does not tell what an author may do, so every open issue is read by itself. An issue that
    is missing in a list is only taken for closed when the tracker says so, and nothing is asked about it when the list
    had more than were read.

    Args:
        tracker: where they are.
        queries: one for each repository or project.
        named: single issues.
        pending: the issues of tasks that have not begun.

    Raises:
        PortError: they cannot be read.
    """
    listings = [await tracker.find_issues(query) for query in queries]
    is_complete = all(listing.is_complete for listing in listings)
    issues = [await tracker.fetch_issue(ref) for ref in named]
    seen = {key_of(each.ref) for each in issues}
    for found in (each for listing in listings for each in listing.items):
        if key_of(found.ref) in seen:
            continue
        seen.add(key_of(found.ref))
        is_wanted = found.state is IssueState.OPEN and not found.is_pull_request
        issues.append(await tracker.fetch_issue(found.ref) if is_wanted else found)
    scopes = {query.scope.casefold() for query in queries}
    missing = [ref for ref in pending if key_of(ref) not in seen and _is_in(ref, scopes)]
    if missing and not is_complete:
        note = f"the list was cut short, so {len(missing)} pending tasks were not looked after: raise --limit"
        return Gathered(tuple(issues), is_complete, (note,))
    closed, notes = await _look_after(tracker, missing)
    return Gathered((*issues, *closed), is_complete, notes)


def _is_in(ref: IssueRef, scopes: set[str]) -> bool:
    """Whether a list of these scopes could have held it; the empty scope is the whole tracker."""
    return ref.scope.casefold() in scopes or "" in scopes


async def _look_after(tracker: Tracker, missing: Sequence[IssueRef]) -> tuple[list[Issue], tuple[str, ...]]:
    """Those of the issues that are closed, and what is to be said of the others."""
    closed: list[Issue] = []
    notes: list[str] = []
    for ref in missing:
        try:
            issue = await tracker.fetch_issue(ref)
        except NotFound:
            notes.append(f"{ref.short} cannot be found any more; its task stays")
            continue
        if issue.state is IssueState.CLOSED:
            closed.append(issue)
        else:
            notes.append(f"{ref.short} is open and was not asked for; its task stays")
    return closed, tuple(notes)
