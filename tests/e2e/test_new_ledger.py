"""The ledger is deleted and the rest of `.whilly` stays: a new life takes nothing of the old one for its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from whilly.testing.workshop import Running, Workshop


def delete_ledger(shop: Workshop) -> None:
    files = [path for path in (shop.repository.root / ".whilly").iterdir() if path.name.startswith("whilly.db")]
    assert files
    for path in files:
        path.unlink()


def begin(shop: Workshop, cost: str) -> Running:
    """A `whilly` whose agent is at work."""
    shop.settings(f'[agents.paid]\nenv_set = {{ LOG = "{shop.world}/log", WORLD = "{shop.world}", COST = "{cost}" }}\n')
    before = len(shop.log())
    running = shop.start("run", "--agent", "paid")
    shop.wait_for(lambda: len(shop.log()) > before)
    return running


@pytest.mark.parametrize("is_ended", [True, False], ids=["its agent has ended", "its agent is at work"])
def test_a_session_of_an_older_ledger_is_not_believed(shop: Workshop, *, is_ended: bool) -> None:
    shop.plan({"id": "T1", "description": f"$ {WAIT}\n$ echo $COST > T1.txt"})
    begin(shop, "0.5").kill()
    if is_ended:
        shop.let_go()
        shop.wait_for(lambda: not shop.processes())
        (shop.world / "go").unlink()
    delete_ledger(shop)
    running = begin(shop, "0.25")
    shop.let_go()
    ended = running.wait()
    assert (ended.code, ended.statuses) == (0, {"T1": "done"}), ended.err
    assert shop.log().count("start T1 execute") == 2
    assert ended.tasks["T1"]["cost_usd"] == 0.25
    assert shop.repository.git("show", "whilly/shop:T1.txt") == "0.25"
    assert not shop.processes()
