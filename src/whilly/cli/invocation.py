"""What holds for every command of one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import click


@dataclass(frozen=True, slots=True)
class Invocation:
    """A click context's `obj`.

    Attributes:
        checkpoint: called at the moments that `whilly.ports.checkpoint` names; None in use.
    """

    is_debug: bool
    checkpoint: Callable[[str], None] | None = None


def find_checkpoint() -> Callable[[str], None] | None:
    """That of the command which is being carried out."""
    context = click.get_current_context(silent=True)
    invocation = context.find_object(Invocation) if context else None
    return invocation.checkpoint if invocation else None
