"""Whole plans in the contained tier: the real sandbox, real git, the installed command."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.domain.ids import CommitId
from whilly.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

AGENT = """\
# Does what the lines of the prompt say that begin with "$ ", and claims completion.
prompt=$1
sed -n 's/^[$] //p' "$prompt" > "$HOME/script.sh"
. "$HOME/script.sh"
echo '<promise>COMPLETE</promise>'
"""
SETTINGS = """
[machine]
max_cpu_percent = 0
[agent]
name = "held"
isolation = "contained"
grace_s = 1
[agents.held]
argv = ["sh", "{program}", "{{prompt_file}}"]
cost = "free"
"""
REPAIRED = "$ if grep -q '^## A check fails' \"$prompt\"; then echo right > r.txt; else echo wrong > r.txt; fi"
FORGED = "mkdir -p docs && echo APPROVED > docs/12-review.md"
MERGED = (
    "$ if grep -q '^## Your change conflicts' \"$prompt\"; then printf 'one\\nA\\nB\\ntwo\\n' > list.txt; "
    "else printf 'one\\n%s\\ntwo\\n' > list.txt; fi"
)


@pytest.fixture
def held(tmp_path: Path, test_environment: Mapping[str, str], bubblewrap: str) -> Iterator[Workshop]:
    """A repository in which the installed `whilly` works with contained agents."""
    assert bubblewrap
    made = Workshop.make(tmp_path, test_environment["PATH"])
    (made.world / "held.sh").write_text(AGENT, encoding="utf-8")
    (made.repository.root / "whilly.toml").write_text(SETTINGS.format(program=made.world / "held.sh"), encoding="utf-8")
    yield made
    made.close()


def trees(shop: Workshop) -> list[Path]:
    return sorted((shop.repository.root / ".whilly" / "contained" / "runs").glob("*/tree"))


def left(shop: Workshop) -> list[str]:
    """What is in the directories of the tier but the mirror, and the processes."""
    home = shop.repository.root / ".whilly" / "contained"
    places = [home / name for name in ("runs", "checkouts", "quarantine", "refused") if (home / name).exists()]
    return [str(path) for place in places for path in place.iterdir()] + shop.processes()


def test_a_plan_is_worked_on_repaired_merged_and_integrated(held: Workshop) -> None:
    held.repository.write(held.repository.root, {"list.txt": "one\ntwo\n"})
    held.repository.commit("list")
    before = held.repository.git("status", "--porcelain"), held.repository.git("rev-parse", "main")
    held.plan(
        {"id": "A", "description": MERGED % "A"},
        {"id": "B", "description": MERGED % "B", "test_steps": ["grep -q B list.txt"]},
        {"id": "R", "description": REPAIRED, "test_steps": ["grep -q right r.txt"]},
        {"id": "C", "dependencies": ["R"], "test_steps": ["git log -1 --format=%H", "grep -q right r.txt"]},
    )
    ended = held.run("run")
    assert (ended.code, ended.statuses) == (0, dict.fromkeys("ABRC", "done")), ended.out + ended.err
    assert sorted(held.integrated()) == ["A", "B", "C", "R"]
    assert held.repository.git("show", "whilly/shop:list.txt") == "one\nA\nB\ntwo"
    assert held.repository.git("show", "whilly/shop:r.txt") == "right"
    stages = [line["stage"] for line in ended.objects("attempt_started")]
    assert (stages.count("repair"), stages.count("resolve")) == (1, 1)
    assert (
        held.repository.git("status", "--porcelain", "--", "list.txt"),
        held.repository.git("rev-parse", "main"),
    ) == (
        "",
        before[1],
    )
    assert left(held) == []
    parents = held.repository.git("log", "--format=%p", "main..whilly/shop").splitlines()
    assert all(len(line.split()) == 1 for line in parents)


def test_an_agent_is_adopted_after_whilly_was_killed(held: Workshop) -> None:
    held.plan(
        {"id": "A", "description": "$ touch here; until [ -e go ]; do sleep 0.05; done; rm here go; echo A > A.txt"}
    )
    first = held.start("run")
    held.wait_for(lambda: any((tree / "here").exists() for tree in trees(held)))
    first.kill()
    assert held.processes() != []
    second = held.start("run")
    held.wait_for(lambda: "progress" in second.out)
    (tree,) = trees(held)
    (tree / "go").touch()
    ended = second.wait()
    assert (ended.code, ended.statuses) == (0, {"A": "done"}), ended.out + ended.err
    assert [attempt["stage"] for attempt in ended.tasks["A"]["attempts"]] == ["execute", "verify", "integrate"]
    assert left(held) == []


def test_an_agent_that_does_not_want_to_end_is_ended_with_all_that_it_started(held: Workshop) -> None:
    stubborn = "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; sleep 600; :' & echo half > half.txt; touch here"
    held.plan({"id": "A", "description": f"$ {stubborn}; while :; do sleep 600; done"})
    running = held.start("run")
    held.wait_for(lambda: any((tree / "here").exists() for tree in trees(held)))
    running.interrupt(signal.SIGINT)
    ended = running.wait(30)
    assert (ended.code, held.processes()) == (130, [])
    (saved,) = [ref for ref in held.repository.refs() if ref.startswith("refs/whilly/wip/")]
    assert held.repository.git("show", f"{saved}:half.txt") == "half"


def test_neither_agents_nor_checks_see_the_host(held: Workshop) -> None:
    secret = held.world / "secret"
    secret.write_text("opensesame\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        probe = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)'"
        nothing = f'test ! -e {secret} && test -z "$FORGE_TOKEN" && ! {probe} && ! ls {held.repository.home}'
        held.plan(
            {"id": "A", "description": f"$ env; cat {secret}; {nothing} && echo A > A.txt", "test_steps": [nothing]}
        )
        word = "opensesame"
        ended = held.run("run", FORGE_TOKEN=word, ANTHROPIC_API_KEY=word)
    assert (ended.code, ended.statuses) == (0, {"A": "done"}), ended.out + ended.err
    home = held.repository.root / ".whilly"
    texts = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert not any(b"opensesame" in text for text in texts)


def test_it_does_not_start_where_the_sandbox_does_not_hold(held: Workshop, tmp_path: Path) -> None:
    held.plan({"id": "A"})
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(Path("/usr/bin", name))
    ended = held.run("run", PATH=str(programs))
    assert ended.code == 4
    assert "agents cannot be contained on this machine: bubblewrap is not installed" in ended.err
    assert "apt install bubblewrap" in ended.err
    broken = programs / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces here >&2; exit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    ended = held.run("run", PATH=str(programs))
    assert (ended.code, ended.out) == (4, "")
    assert "no namespaces here" in ended.err or "cannot be made" in ended.err
    assert not (held.repository.root / ".whilly" / "whilly.db").exists()


def test_the_flag_decides_over_the_settings(held: Workshop) -> None:
    held.plan({"id": "A", "description": '$ [ "$HOME" = /home/agent ] && echo held > A.txt || echo open > A.txt'})
    settings = (held.repository.root / "whilly.toml").read_text(encoding="utf-8")
    (held.repository.root / "whilly.toml").write_text(
        settings.replace('isolation = "contained"\n', ""), encoding="utf-8"
    )
    assert held.run("run", "--isolation", "contained").code == 0
    assert held.repository.git("show", "whilly/shop:A.txt") == "held"
    assert json.loads(held.run("config", "show", "--json").out)


def test_what_is_refused_is_mended_and_what_needs_a_person_waits_for_one(held: Workshop) -> None:
    again = "if grep -q '^## A check fails' \"$prompt\"; then rm -f link; else ln -s /etc/passwd link; fi"
    held.plan(
        {"id": "A", "description": f"$ {again}; echo A > A.txt"},
        {"id": "B", "description": "$ mkdir -p .github && echo 'on: push' > .github/ci.yml"},
        {"id": "C", "description": f"$ {FORGED}; echo C > C.txt"},
    )
    ended = held.run("run")
    assert ended.tasks["A"]["status"] == "done", ended.out + ended.err
    stages = [(line["task_id"], line["stage"]) for line in ended.objects("attempt_started")]
    assert ("A", "repair") in stages
    assert "link (link_outside: it leads out of the repository, to '/etc/passwd')" in ended.out
    assert "docs/12-review.md (verdict: it would say that the work was looked at" in ended.out
    assert ended.tasks["C"]["status"] == "failed"
    assert held.integrated() == ["A"]
    why = held.run("why", "B").out
    assert ".github/ci.yml (ci: it decides what the forge runs)" in why
    seen = why.split("`whilly accept B ")[1].split("`")[0]
    assert held.repository.git("show", f"{seen}:.github/ci.yml") == "on: push"
    assert held.run("accept", "B", "0" * 12).err.startswith("whilly: B cannot be accepted: its work is")
    assert held.run("accept", "B", "main").code == 4
    assert held.run("retry", "B").code == 0
    assert held.run("run").tasks["B"]["status"] == "human_loop"
    assert held.run("accept", "B", seen, "--note", "I read it").code == 0
    again_ended = held.run("run")
    assert (again_ended.tasks["B"]["status"], sorted(held.integrated())) == ("done", ["A", "B"]), again_ended.out
    assert f"accepted: {seen}" in held.run("timeline", "B").out


def test_tests_that_are_made_weaker_wait_for_a_person(held: Workshop) -> None:
    before = "def test_a():\n    assert 1 + 1 == 3\n"
    held.repository.write(held.repository.root, {"tests/test_a.py": before, "Makefile": "check:\n\tfalse\n"})
    held.repository.commit("a red test")
    skipped = "import pytest\\n@pytest.mark.skip\\ndef test_a():\\n    assert 1 + 1 == 3\\n"
    held.plan(
        {"id": "A", "description": f"$ printf '{skipped}' > tests/test_a.py"},
        {"id": "B", "description": "$ printf 'check:\\n\\tfalse || true\\n' > Makefile"},
    )
    ended = held.run("run")
    assert {name: task["status"] for name, task in ended.tasks.items()} == {"A": "human_loop", "B": "human_loop"}
    assert "tests/test_a.py (tests_skipped: tests are skipped" in held.run("why", "A").out
    assert "Makefile (tests_silenced: a failure there does not count any more)" in held.run("why", "B").out
    assert held.integrated() == []


def test_an_acceptance_counts_for_the_commit_that_was_seen_and_for_no_other(held: Workshop) -> None:
    held.repository.write(held.repository.root, {"list.txt": "one\ntwo\n"})
    held.repository.commit("list")
    held.plan({"id": "A", "description": f"$ mkdir -p .github; echo 'on: push' > .github/ci.yml\n{MERGED % 'A'}"})
    assert held.run("run").tasks["A"]["status"] == "human_loop"
    seen = held.run("why", "A").out.split("`whilly accept A ")[1].split("`")[0]
    assert held.run("accept", "A", seen).code == 0
    # Somebody else changes the same lines, so the work has to change before it can be integrated.
    target = CommitId(held.repository.git("rev-parse", "main"))
    other = held.repository.make_commit({"list.txt": "one\nB\ntwo\n"}, target)
    held.repository.set_ref("refs/heads/whilly/shop", other)
    ended = held.run("run")
    assert ended.tasks["A"]["status"] == "human_loop", ended.out + ended.err
    later = held.run("why", "A").out.split("`whilly accept A ")[1].split("`")[0]
    assert later != seen
    assert "cannot be accepted: its work is" in held.run("accept", "A", seen).err
    assert held.run("accept", "A", later).code == 0
    assert held.run("run").code == 0
    assert held.repository.git("show", "whilly/shop:list.txt") == "one\nA\nB\ntwo"


def test_a_person_works_in_a_fresh_checkout_and_is_judged_as_agents_are(held: Workshop) -> None:
    held.plan({"id": "A", "agent": "handoff", "description": "by hand"})
    running = held.start("run")
    handoffs = held.repository.root / ".whilly" / "handoff"
    held.wait_for(lambda: list(handoffs.glob("*/meta.json")))
    (tree,) = trees(held)
    (tree / "A.txt").write_text("by hand\n", encoding="utf-8")
    (tree / "link").symlink_to("/etc/passwd")
    (tree / ".github").mkdir()
    (tree / ".github" / "ci.yml").write_text("on: push\n", encoding="utf-8")
    held.wait_for(lambda: held.run("handoff", "complete", "A", "--message", "there").code == 0)
    held.wait_for(lambda: "link (link_outside" in running.out)
    # It goes back to the same person, without what was refused or not.
    held.wait_for(lambda: len(list(handoffs.glob("*/meta.json"))) == 2)
    (tree,) = trees(held)
    (tree / "link").unlink()
    held.wait_for(lambda: held.run("handoff", "complete", "A", "--message", "mended").code == 0)
    ended = running.wait()
    assert ended.code == 1, ended.out + ended.err
    assert held.integrated() == []
    assert ".github/ci.yml (ci: it decides what the forge runs)" in held.run("why", "A").out


WHERE = '$ [ "$HOME" = /home/agent ] && echo held > %s.txt || echo open > %s.txt'


def test_each_task_works_in_the_tier_that_it_or_its_agent_asks_for(held: Workshop) -> None:
    settings = (held.repository.root / "whilly.toml").read_text(encoding="utf-8")
    table = settings[settings.index("[agents.held]") :].replace("agents.held", "agents.strict")
    loose = settings.replace('isolation = "contained"\n', "") + f'{table}isolation = "contained"\n'
    (held.repository.root / "whilly.toml").write_text(loose, encoding="utf-8")
    held.plan(
        {"id": "A", "description": WHERE % ("A", "A")},
        {"id": "B", "description": WHERE % ("B", "B"), "isolation": "contained", "test_steps": ["grep -q held B.txt"]},
        {"id": "C", "description": WHERE % ("C", "C"), "agent": "strict"},
        {"id": "D", "description": "$ mkdir .github && touch .github/ci.yml", "isolation": "contained"},
        {"id": "E", "description": "$ mkdir -p .gitea && touch .gitea/ci.yml"},
    )
    ended = held.run("run")
    assert ended.statuses == {**dict.fromkeys("ABCE", "done"), "D": "human_loop"}, ended.out + ended.err
    found = [held.repository.git("show", f"whilly/shop:{name}.txt") for name in "ABC"]
    assert found == ["open", "held", "held"]
    assert held.run("why", "D").out.count("whilly accept D") > 0
    tiers = {(line["task_id"], line["tier"]) for line in ended.objects("attempt_started")}
    assert tiers == {("A", "open"), ("B", "contained"), ("C", "contained"), ("D", "contained"), ("E", "open")}
    assert "tier: contained" in held.run("timeline", "C").out


def test_a_tier_that_does_not_exist_is_an_error_of_the_plan(held: Workshop) -> None:
    held.plan({"id": "A", "description": "$ true", "isolation": "contaned"})
    ended = held.run("run")
    assert ended.code == 4
    assert "did you mean `contained`?" in ended.err
