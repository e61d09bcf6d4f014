"""Put an ended run's workspace away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.ids import asked_id

if TYPE_CHECKING:
    from whilly.application.attempt_context import Ports
    from whilly.domain.ids import RunId


async def close_run(run: RunId, ports: Ports, *, keep_branch: bool) -> None:
    """Remove the checkout; the commits stay reachable, and so does the branch of a run that was not integrated."""
    ports.checkpoint("close:before")
    await ports.workspace.close(run, keep_branch=keep_branch)
    await ports.workspace.close(asked_id(run), keep_branch=False)
    ports.checkpoint("close:after")
