"""Many kills, and the table that says what came of them."""

from __future__ import annotations

import random
import statistics
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

from whilly.testing.crash.site import Site
from whilly.testing.crash.story import RUN, Kill, every_point, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from whilly.testing.crash.verdict import Verdict

POWER_CUTS = 0.25
"""The share of random kills that take the agents with them."""

COLUMNS = ("lost", "doubled", "orphan", "stuck")
"""Kinds of faults that have a column of their own."""


def measure(folder: Path) -> tuple[Mapping[str, int], float]:
    """How often an undisturbed run passes each point, and how many seconds it takes from its first to its last."""
    site = Site.make(folder)
    site.call(*RUN)
    passed = site.passed()
    counts: dict[str, int] = {}
    for name, _ in passed:
        counts[name] = counts.get(name, 0) + 1
    return counts, passed[-1][1] - passed[0][1]


def sample(counts: Mapping[str, int], seconds: float, number: int, seed: int) -> Iterator[Kill]:
    """Kills at random: half of them at a later passing of a point, half at any moment; some twice, some of everything.

    Args:
        counts: how often an undisturbed run passes each point.
        seconds: how long it takes.
        number: of kills.
        seed: the same one gives the same kills.
    """
    # Not for secrets: the same seed has to give the same kills.
    chance = random.Random(seed)  # noqa: S311  (as above)
    points = sorted(name for name, times in counts.items() if times > 1)
    for each in range(number):
        times, is_power_cut = chance.choice((1, 1, 2)), chance.random() < POWER_CUTS
        if each % 2:
            yield Kill("", 0, chance.uniform(0.5, 0.5 + seconds), times, is_power_cut)
        else:
            point = chance.choice(points)
            yield Kill(point, chance.randint(2, counts[point]), times=times, is_power_cut=is_power_cut)


def play(kills: Iterable[Kill], folder: Path, jobs: int) -> Iterator[Verdict]:
    """Play every kill in a folder of its own, some at a time; verdicts as they come."""
    with ThreadPoolExecutor(jobs) as pool:
        told = [pool.submit(tell, kill, folder / f"{number}") for number, kill in enumerate(kills)]
        for each in as_completed(told):
            yield each.result()


def render(verdicts: Sequence[Verdict]) -> str:
    """The table, and under it every fault."""
    recoveries = [each.recovery for each in verdicts if each.recovery is not None]
    numbers = {
        "kills": sum(each.kills for each in verdicts),
        "lost commits": sum(each.count("lost") for each in verdicts),
        "doubled commits": sum(each.count("doubled") for each in verdicts),
        "orphan processes": sum(each.count("orphan") for each in verdicts),
        "stuck runs": sum(each.count("stuck") for each in verdicts),
        "other faults": sum(fault.kind not in COLUMNS for each in verdicts for fault in each.faults),
    }
    lines = [f"{name:<17} {number:>6}" for name, number in numbers.items()]
    if recoveries:
        lines.append(f"{'recovery, median':<17} {statistics.median(recoveries):>6.2f} s")
        lines.append(f"{'recovery, max':<17} {max(recoveries):>6.2f} s")
    lines += [f"{each.name}: {fault.kind}: {fault.text}" for each in verdicts for fault in each.faults]
    return "\n".join(lines)


__all__ = ["every_point", "measure", "play", "render", "sample"]
