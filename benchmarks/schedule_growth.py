"""How the cost of scheduling a whole plan grows with its size.

Run `python benchmarks/schedule_growth.py [--parallel N]`. For every shape it plays a plan from its first item to its
last and prints the CPU seconds for each size, and how much more that is than for the size before. Growth with n log n
is 2.15 from 10,000 to 20,000.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections import deque
from typing import TYPE_CHECKING

from whilly.domain.ids import ItemId
from whilly.domain.schedule import Frontier
from whilly.domain.work_item import ItemStatus, Priority, WorkItem

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000, 2_500, 5_000, 10_000, 20_000)
PRIORITIES = tuple(Priority)


def item(number: int, *, after: tuple[int, ...] = (), claims: tuple[str, ...] = ()) -> WorkItem:
    return WorkItem(
        ItemId(f"T-{number}"),
        f"Task {number}",
        priority=PRIORITIES[number * 7 % 4],
        dependencies=tuple(ItemId(f"T-{each}") for each in after),
        key_files=claims,
    )


def independent(n: int) -> list[WorkItem]:
    return [item(i) for i in range(n)]


def own_files(n: int) -> list[WorkItem]:
    return [item(i, claims=(f"src/part{i % 100}/module{i}.py", f"tests/test_{i}.py")) for i in range(n)]


def one_chain(n: int) -> list[WorkItem]:
    return [item(i, after=(i - 1,) if i else (), claims=("src/app.py",)) for i in range(n)]


def hundred_chains(n: int) -> list[WorkItem]:
    return [item(i, after=(i - 100,) if i >= 100 else (), claims=(f"src/{i % 100}",)) for i in range(n)]


def wide_fan(n: int) -> list[WorkItem]:
    first, last = 0, n - 1
    return [item(first), *(item(i, after=(first,)) for i in range(1, last)), item(last, after=tuple(range(1, last)))]


def layers(n: int) -> list[WorkItem]:
    return [item(i, after=tuple(range(i // 50 * 50 - 50, i // 50 * 50)) if i >= 50 else ()) for i in range(n)]


def same_file(n: int) -> list[WorkItem]:
    return [item(i, claims=("README.md",)) for i in range(n)]


def same_file_and_own(n: int) -> list[WorkItem]:
    return [item(i, claims=("CHANGELOG.md", f"src/module{i}.py")) for i in range(n)]


def directories(n: int) -> list[WorkItem]:
    """Every tenth item claims a whole directory, the others a file in one of a hundred."""
    return [item(i, claims=(f"src/part{i % 100}" if i % 10 == 3 else f"src/part{i % 100}/m{i}.py",)) for i in range(n)]


def one_directory(n: int) -> list[WorkItem]:
    """Half of the items claim a directory and a file of their own elsewhere, half a file in that directory."""
    return [item(i, claims=("src", f"docs/{i}.md") if i % 2 else (f"src/m{i}.py",)) for i in range(n)]


def nested_directories(n: int) -> list[WorkItem]:
    return [item(i, claims=("/".join(f"d{i % p}" for p in (2, 3, 5, 7)[: i % 4 + 1]),)) for i in range(n)]


def directory_chain_above(n: int) -> list[WorkItem]:
    """A chain of items that claim the directory, over as many independent ones with a file in it."""
    half = n // 2
    return [
        *(item(i * 4, after=((i - 1) * 4,) if i else (), claims=("src",)) for i in range(half)),
        *(item(i * 4 + 1, claims=(f"src/m{i}.py",)) for i in range(half)),
    ]


def two_of_three(n: int) -> list[WorkItem]:
    """Items that claim one or two of a few hot files, and a file of their own."""
    hot = (("a.py",), ("b.py",), ("a.py", "b.py"), ("c.py", "a.py"))
    return [item(i, claims=(*hot[i % 4], f"own/{i}.py")) for i in range(n)]


def random_directories(n: int) -> list[WorkItem]:
    """The hard one: two of two hundred nested directories each, so that almost no two items claim the same."""
    draw = random.Random(20)  # noqa: S311  (a fixed plan, not a secret)
    paths = [f"d{i % 8}/e{i % 40}/f{i}" for i in range(160)] + [f"d{i % 8}/e{i}" for i in range(40)]
    return [item(i, claims=tuple(draw.sample(paths, 2))) for i in range(n)]


def globs(n: int) -> list[WorkItem]:
    return [
        item(i, claims=(f"src/part{i % 50}/**/*_{i % 9}.py",) if i % 2 else (f"src/part{i % 50}/a_{i % 9}.py",))
        for i in range(n)
    ]


SHAPES: tuple[Callable[[int], list[WorkItem]], ...] = (
    independent,
    own_files,
    one_chain,
    hundred_chains,
    wide_fan,
    layers,
    same_file,
    same_file_and_own,
    two_of_three,
    directories,
    one_directory,
    nested_directories,
    directory_chain_above,
    globs,
    random_directories,
)


def seconds(items: list[WorkItem], parallel: int) -> float:
    """CPU seconds from building the frontier until every item is done; the longest running item ends first."""
    gc.collect()
    began = time.process_time()
    frontier = Frontier(items, {})
    running = deque(frontier.start(parallel))
    done = 0
    while running:
        frontier.finish(running.popleft(), ItemStatus.DONE)
        done += 1
        running.extend(frontier.start(parallel - len(running)))
    took = time.process_time() - began
    if done != len(items) or not frontier.is_finished:
        message = f"{len(items) - done} items were never started"
        raise SystemExit(message)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    chosen = parser.parse_args()
    print(f"{'shape':24}" + "".join(f"{size:>17,}" for size in chosen.sizes))
    for shape in SHAPES:
        cells, before = [], 0.0
        for size in chosen.sizes:
            took = seconds(shape(size), chosen.parallel)
            cells.append(f"{took:8.3f}s" + (f"  x{took / before:4.1f}" if before else " " * 7))
            before = took
        print(f"{shape.__name__:24}" + " ".join(cells), flush=True)


if __name__ == "__main__":
    main()
