"""Trees of a real repository, which is left as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.delivery.trees import GitTrees
from whilly.adapters.memory.clock import ManualClock
from whilly.domain.change import Extent

if TYPE_CHECKING:
    from whilly.testing.git_world import GitWorld


@pytest.fixture
def trees(world: GitWorld) -> GitTrees:
    return GitTrees(world.git, world.layout, ManualClock())


async def test_what_is_no_text_has_no_lines(world: GitWorld, trees: GitTrees) -> None:
    old = world.make_commit({"a.bin": b"\0one\n"})
    new = world.make_commit({"a.bin": b"\0one\n\0two\n", "b.txt": "1\n"}, old)
    assert await trees.measure(old, new) == (Extent("a.bin", 0, 0), Extent("b.txt", 1, 0, was_there=False))


async def test_a_mode_and_a_link_come_along(world: GitWorld, trees: GitTrees) -> None:
    git, root = world.scratch.git, world.scratch.root
    world.scratch.write(root, {"test.sh": "echo\n", "tests/link": "x"})
    base = world.scratch.commit("base")
    (root / "test.sh").chmod(0o755)
    (root / "tests" / "link").unlink()
    (root / "tests" / "link").symlink_to("../README.md")
    head = world.scratch.commit("head")
    made = await trees.overlay(base, head, ["test.sh", "tests/link"])
    assert git("ls-tree", "-r", made) == git("ls-tree", "-r", head)


async def test_nothing_is_left_beside_the_objects(world: GitWorld, trees: GitTrees) -> None:
    git, root = world.scratch.git, world.scratch.root
    base = world.make_commit({"a": "1\n"})
    head = world.make_commit({"a": "2\n"}, base)
    git("config", "core.splitIndex", "true")
    world.scratch.write(root, {"staged.txt": "by hand\n"})
    git("add", "staged.txt")
    before = git("status", "--porcelain"), sorted(path.name for path in (root / ".git").iterdir())
    await trees.overlay(base, head, ["a"])
    after = git("status", "--porcelain", "--", ":!.whilly"), sorted(path.name for path in (root / ".git").iterdir())
    assert after == before
    assert list((root / ".whilly").iterdir()) == []


async def test_names_that_are_no_utf_8_and_no_line_survive(world: GitWorld, trees: GitTrees) -> None:
    name = "tests/line\nbreak \udce9 -x"
    base = world.make_commit({"a": "1\n"})
    made = await trees.overlay(base, world.make_commit({name: "new\n"}, base), [name])
    assert world.files_of(made) == {"a": "1\n", name: "new\n"}


async def test_programs_of_the_user_s_are_not_run(world: GitWorld, trees: GitTrees) -> None:
    ran = world.scratch.home / "ran"
    world.scratch.git("config", "diff.external", f"touch {ran}")
    world.scratch.git("config", "diff.mine.textconv", f"touch {ran}; cat")
    world.scratch.write(world.scratch.root, {".gitattributes": "* diff=mine\n"})
    old = world.make_commit({"a": "1\n"})
    assert await trees.measure(old, world.make_commit({"a": "2\n"}, old)) == (Extent("a", 1, 1),)
    assert not ran.exists()
