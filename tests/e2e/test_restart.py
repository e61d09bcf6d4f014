"""Whilly ends and begins again while many agents work; they do not notice."""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

from whilly.testing.workshop import WAIT

if TYPE_CHECKING:
    from whilly.testing.workshop import Running, Workshop

EIGHT = [f"T{number}" for number in range(8)]


def has_begun(running: Running) -> bool:
    return '"plan_begun"' in running.out


def outlive(shop: Workshop) -> set[str]:
    """The processes of eight agents at work, whose Whilly was killed."""
    running = shop.start("run")
    # Not only started: taken over as well.
    shop.wait_for(lambda: has_begun(running) and len(shop.log()) == len(EIGHT), 90)
    running.kill()
    return set(shop.processes())


def test_eight_agents_are_neither_stopped_nor_doubled_and_all_are_collected(shop: Workshop) -> None:
    shop.settings("[run]\nparallel = 8\n")
    shop.plan(*({"id": name, "description": f"$ {WAIT}\n$ echo {name} > {name}.txt"} for name in EIGHT))
    lives = [outlive(shop) for _ in range(2)]
    running = shop.start("run")
    shop.wait_for(partial(has_begun, running), 90)
    lives.append(set(shop.processes()))
    # The supervisors and their agents are the same processes in every life; the agents wait by sleeping.
    lasting = [{line for line in life if " sleep " not in line} for life in lives]
    assert len(lasting[0]) == 2 * len(EIGHT), lasting[0]
    assert lasting[0] == lasting[1] == lasting[2]
    shop.let_go()
    ended = running.wait(120)
    assert (ended.code, shop.processes()) == (0, []), ended.err
    assert Counter(shop.log()) == Counter(f"{word} {name} execute" for word in ("start", "end") for name in EIGHT)
    assert sorted(shop.integrated()) == EIGHT
