"""Repositories, plans, titles and agents as they are in life, and worse."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

from whilly.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ODD_ID = "gh-12-some-title/with:odd$chars"
HEBREW = "\u05e2\u05d1\u05e8\u05d9\u05ea"
SHELL = "$(touch pwned) `touch pwned`; touch pwned & \\ ' \" %s {0} {{ x }} <b>"
RIGHT_TO_LEFT = f"\u202e{HEBREW}\u202c {SHELL} \x1b[31m"


@pytest.mark.parametrize("name", ["two words/ünï cödé 漢", "a?b#c%41&d=e;f'g\"h$(id)\udce9", "new\nline"])
def test_a_repository_at_an_odd_place(tmp_path: Path, test_environment: Mapping[str, str], name: str) -> None:
    shop = Workshop.make(tmp_path, test_environment["PATH"], name)
    steps = ["test -e A.txt"]
    shop.plan({"id": "A", "test_steps": steps}, {"id": "B", "test_steps": steps, "dependencies": ["A"]})
    ended = shop.run("run")
    assert (ended.code, shop.integrated()) == (0, ["A", "B"]), ended.err
    assert shop.run("status", "--json").code == 0
    shop.close()


def test_ids_titles_and_descriptions_are_data(shop: Workshop) -> None:
    work = '$ n=$((n + 1)); cp "$prompt" $WORLD/prompt-$(ls $WORLD | wc -l); echo x > "f$(ls $WORLD | wc -l).txt"'
    long = "long " * 1000
    shop.plan(
        {"id": ODD_ID, "title": RIGHT_TO_LEFT, "description": f"{RIGHT_TO_LEFT}\nnul: \0 end\n{work}"},
        {"id": "2", "description": f"{long}\n{work}", "dependencies": [ODD_ID]},
        {"id": "-rf", "description": work, "acceptance_criteria": [RIGHT_TO_LEFT], "dependencies": ["2"]},
        {"id": "..", "description": work, "dependencies": ["-rf"]},
        {"id": "A.lock", "description": work, "dependencies": [".."]},
    )
    ended = shop.run("run")
    assert ended.code == 0, ended.out + ended.err
    assert shop.integrated() == [ODD_ID, "2", "-rf", "..", "A.lock"]
    assert not list(shop.repository.root.rglob("pwned"))
    assert not list(shop.world.rglob("pwned"))
    (first, *_) = sorted(shop.world.glob("prompt-*"))
    prompt = first.read_text(encoding="utf-8")
    assert "\u202e" not in prompt
    assert f"{HEBREW} {SHELL}" in prompt
    messages = shop.repository.git("log", "--format=%s", "main..whilly/shop").splitlines()
    assert len(messages) == 5
    for words in (["why", ODD_ID], ["timeline", ODD_ID], ["logs", ODD_ID], ["status"], ["report"]):
        told = shop.run(*words)
        assert told.code == 0, told.err
        assert not {"\x1b", "\u202e", "\0"} & set(told.out)


def test_two_plans_one_of_them_outside(shop: Workshop) -> None:
    outside = shop.world / "elsewhere.json"
    shop.plan({"id": "A"}, name="tasks.json").rename(outside)
    shop.plan({"id": "A", "description": "$ echo other > other.txt"}, name=".planning/more-tasks.json", project="more")
    ended = shop.run("run", str(outside), ".planning/more-tasks.json")
    assert ended.code == 0, ended.err
    assert [complete["target"] for complete in ended.objects("complete")] == ["whilly/shop", "whilly/more"]
    assert shop.integrated("whilly/more") == shop.integrated("whilly/shop") == ["A"]


def test_the_current_directory_does_not_matter(shop: Workshop) -> None:
    below = shop.repository.root / "src" / "deep"
    below.mkdir(parents=True)
    shop.plan({"id": "A"})
    assert shop.run("run", cwd=below).code == 0
    # A name is relative to where it is said.
    assert shop.run("run", "../../tasks.json", cwd=below).code == 0
    assert shop.integrated() == ["A"]


def test_an_agent_that_says_very_much_and_not_in_text(shop: Workshop) -> None:
    flood = '$ head -c 50000000 /dev/zero | tr "\\0" "x"; echo; head -c 100000 /dev/urandom; printf "\\377\\n"'
    files = "$ head -c 20000000 /dev/zero > big.bin; printf '\\377\\376' > odd.txt"
    shop.plan({"id": "A", "description": f"{flood}\n{files}"})
    ended = shop.run("run")
    assert ended.code == 0, ended.err
    assert shop.repository.git("cat-file", "-s", "whilly/shop:big.bin") == "20000000"


def test_an_agent_that_makes_odd_files(shop: Workshop) -> None:
    odd = [
        """mkdir -p 'sp ace' deep; printf 1 > 'sp ace/ü "q".txt'; ln -s /etc/passwd link; : > empty""",
        r"""printf 2 > "$(printf 'new\nline')"; printf 3 > --; printf '#!/bin/sh\n' > run.sh; chmod +x run.sh""",
        "git init -q deep; printf 4 > deep/in.txt",
    ]
    steps = ["./run.sh", "test -L link", "test -e 'sp ace/ü \"q\".txt'"]
    shop.plan({"id": "A", "description": "\n".join(f"$ {line}" for line in odd), "test_steps": steps})
    ended = shop.run("run")
    assert ended.code == 0, ended.out + ended.err
    names = shop.repository.git("ls-tree", "-r", "-z", "--name-only", "whilly/shop").split("\0")
    assert {'sp ace/ü "q".txt', "new\nline", "link", "--", "run.sh", "deep/in.txt", "empty"} <= set(names)


def test_an_agent_that_meddles_with_git(shop: Workshop) -> None:
    """It commits, makes branches, moves HEAD, stashes, and breaks its index: its work is found all the same."""
    main = shop.repository.git("rev-parse", "main")
    shop.plan(
        {
            "id": "A",
            "description": "$ echo A > A.txt; git add -A; git commit -qm own; git switch -qc mine; touch B.txt",
        },
        {"id": "B", "description": "$ git checkout -q --detach; echo B > C.txt; git add -A; git commit -qm x"},
        {"id": "C", "description": '$ echo C > D.txt; git add -A; echo broken > "$(git rev-parse --git-dir)/index"'},
        {"id": "D", "description": '$ echo D > E.txt; git add -A; touch "$(git rev-parse --git-dir)/index.lock"'},
    )
    ended = shop.run("run")
    assert ended.code == 0, ended.out + ended.err
    names = shop.repository.git("ls-tree", "--name-only", "whilly/shop").split()
    assert {"A.txt", "B.txt", "C.txt", "D.txt", "E.txt"} <= set(names)
    assert shop.repository.git("rev-parse", "main") == main
    assert shop.repository.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_an_agent_on_another_branch_takes_nothing_of_others_away(shop: Workshop) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -q"
    shop.plan(
        {"id": "A"},
        {
            "id": "B",
            "dependencies": ["A"],
            "description": f"$ git switch -q -c mine main; echo B > B.txt; git add B.txt; {commit} -m B",
        },
        {
            "id": "C",
            "dependencies": ["B"],
            "description": f"$ git checkout -q --orphan mine-alone; echo C > README.md; git add -A; {commit} -m C",
        },
    )
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (1, {"A": "done", "B": "done", "C": "failed"}), ended.err
    assert {"A.txt", "B.txt"} <= set(shop.repository.git("ls-tree", "--name-only", "whilly/shop").split())
    assert "left the history that it was given" in ended.tasks["C"]["reason"]


def test_links_that_lead_in_circles_are_told_like_any_other_mistake(shop: Workshop) -> None:
    root = shop.repository.root
    (root / "loop").symlink_to("loop")
    (root / "loop.json").symlink_to("loop.json")
    for words in (["run", "loop.json"], ["run", "loop/tasks.json"], ["run", "--dry-run", "loop.json"]):
        ended = shop.run(*words)
        assert ended.code == 4
        assert "not a plan file" in ended.err, ended.err
        assert "internal error" not in ended.err
    assert "a link that leads nowhere" in shop.run("run", "loop.json").err
    for words in (["-C", "loop", "run"], ["status", "--plan", "loop.json"], ["reset", "--yes", "loop.json"]):
        ended = shop.run(*words)
        assert (ended.code, "internal error" in ended.err) == (4, False), ended.err
    shop.plan({"id": "A", "key_files": ["loop", "loop/x"], "description": "$ echo a > a.txt"})
    assert shop.run("run").code == 0
    for name in (".env", "whilly.toml"):
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(name)
        for words in (["run"], ["config", "show"]):
            ended = shop.run(*words)
            assert (ended.code, "internal error" in ended.err, name in ended.err) == (4, False, True), ended.err
        (root / name).unlink()
