"""The way of an issue into a state: Jira's transitions, which depend on where it is and who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.errors import RuleViolation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.transport.http.fields import Fields

CATEGORIES = {"open": ("new", "indeterminate"), "closed": ("done",), "not_planned": ("done",)}
"""Whilly's states → Jira's categories, the wanted one first. All other states are names of Jira's own."""
_REFUSED = ("won't do", "wont do", "won't fix", "declined", "rejected")


def is_there(status: Fields, state: str) -> bool:
    """Whether an issue with this status is in the state."""
    if state in CATEGORIES:
        return status.text("statusCategory", "key") in CATEGORIES[state]
    return status.text("name").casefold() == state.casefold()


def choose_move(transitions: Sequence[Fields], state: str, key: str) -> dict[str, object]:
    """What is to be sent to make the one step that leads there.

    Raises:
        RuleViolation: no step leads there.
    """
    leading = [each for each in transitions if is_there(each.child("to"), state)]
    if state in CATEGORIES:
        order = CATEGORIES[state]
        leading.sort(key=lambda each: order.index(each.text("to", "statusCategory", "key")))
    if not leading:
        names = ", ".join(each.text("to", "name") for each in transitions) or "nowhere"
        message = f"{key}: no step leads to {state!r} from where it is"
        raise RuleViolation(message, remedy=f"it can go to: {names}; the account may need more rights")
    chosen = leading[0]
    body: dict[str, object] = {"transition": {"id": chosen.need("id")}}
    if chosen.flag("fields", "resolution", "required"):
        values = chosen.children("fields", "resolution", "allowedValues")
        body["fields"] = {"resolution": {"name": _choose_resolution([each.text("name") for each in values], state)}}
    return body


def _choose_resolution(names: Sequence[str], state: str) -> str:
    refused = [name for name in names if name.casefold() in _REFUSED]
    done = [name for name in names if name not in refused]
    wanted = refused if state == "not_planned" else done
    return (wanted or list(names) or ["Done"])[0]
