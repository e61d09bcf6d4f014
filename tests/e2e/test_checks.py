"""What is checked, by whom, and what becomes of what fails."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no sessions", allow_module_level=True)

if TYPE_CHECKING:
    from whilly.testing.workshop import Workshop


def test_a_failure_goes_back_with_all_that_is_known_of_it(shop: Workshop) -> None:
    first = 'setup = ["echo set-up >> $SEEN"]\nrepair_verify = ["echo early >> $SEEN"]'
    shop.settings(f'[profile]\n{first}\nverify = ["python3 check.py"]\nenv_pass = ["SEE*"]\n')
    mend = '$ cp "$prompt" "$WORLD/$round"; echo pass > check.py'
    work = '$ [ $round = repair ] || echo "import nosuchmodule" > check.py'
    shop.plan({"id": "A", "description": f"{mend}\n{work}"})
    seen = shop.world / "seen"
    ended = shop.run("run", SEEN=str(seen))
    assert ended.code == 0, ended.out + ended.err
    prompt = (shop.world / "repair").read_text(encoding="utf-8")
    assert "Command: `python3 check.py`" in prompt
    assert "Exit code: 1" in prompt
    assert "nosuchmodule" in prompt
    # A dependency that is missing is not installed by a guess: the profile says how.
    assert "`echo set-up >> $SEEN` sets the repository up" in prompt
    assert seen.read_text(encoding="utf-8").split() == ["set-up", "set-up", "early"]


def test_the_same_failure_twice_is_not_tried_again(shop: Workshop) -> None:
    shop.plan(
        {"id": "A", "description": "$ date +%N > A.txt", "test_steps": ["echo 1 failed in 0.$$s; exit 7"]},
        {"id": "B", "dependencies": ["A"]},
    )
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (1, {"A": "failed", "B": "blocked"})
    assert "the same failure twice" in ended.tasks["A"]["reason"]
    assert [line for line in shop.log() if line.startswith("start")] == ["start A execute", "start A repair"]
    assert shop.repository.git("rev-parse", "--verify", "whilly/A")


def test_a_failure_that_is_another_one_each_time_is_mended_three_times_at_most(shop: Workshop) -> None:
    step = 'n=$(wc -l < n.txt); set -- alpha beta gamma delta epsilon; shift $n; echo "Error: no $1"; exit $n'
    shop.plan({"id": "A", "description": "$ echo x >> n.txt", "test_steps": [step]})
    ended = shop.run("run")
    assert ended.code == 1
    assert [line.split()[2] for line in shop.log() if line.startswith("start")] == ["execute", *["repair"] * 3]
    assert "after 3 tries to mend it" in ended.tasks["A"]["reason"]


def test_a_setup_that_fails_is_said_to_fail(shop: Workshop) -> None:
    shop.settings('[profile]\nsetup = ["echo no network; exit 9"]\nverify = ["true"]\n')
    shop.plan({"id": "A"})
    ended = shop.run("run")
    assert ended.code == 1
    assert "exit 9" in ended.tasks["A"]["reason"]


def test_an_exit_code_that_is_accepted_is_a_pass(shop: Workshop) -> None:
    shop.settings('[profile]\nverify = [{ run = "exit 5", accept = [0, 5] }]\n')
    shop.plan({"id": "A"})
    assert shop.run("run").code == 0


def test_paths_that_may_not_be_changed(shop: Workshop) -> None:
    shop.settings('[profile]\nallowed_paths = ["src/", "*.txt"]\nforbidden_paths = ["src/secret.py"]\n')
    both = "$ mkdir -p src ci; echo x > src/c.py; echo x > ci/run.yml"
    shop.plan(
        {"id": "A"},
        {"id": "B", "description": "$ mkdir -p src; echo x > src/secret.py"},
        {"id": "C", "description": f"{both}\n$ [ $round = execute ] || rm -r ci"},
    )
    ended = shop.run("run")
    assert (ended.code, ended.statuses) == (1, {"A": "done", "B": "failed", "C": "done"})
    assert "src/secret.py" in ended.tasks["B"]["reason"]
    assert "ci/run.yml" not in shop.repository.git("ls-tree", "-r", "--name-only", "whilly/shop")


def test_a_check_that_hangs_or_leaves_a_daemon_is_ended(shop: Workshop) -> None:
    shop.settings("[profile]\ncheck_timeout_s = 1\n[agent]\ngrace_s = 0.2\n")
    daemon = "(setsid sh -c 'trap \"\" TERM; echo still here; sleep 600; :' &) ; true"
    shop.plan({"id": "A", "test_steps": ["trap '' TERM; echo before; sleep 600"]}, {"id": "B", "test_steps": [daemon]})
    ended = shop.run("run")
    assert (ended.code, ended.statuses, shop.processes()) == (1, {"A": "failed", "B": "done"}, [])
    assert "sleep 600" in ended.tasks["A"]["reason"]


def test_checks_see_the_commit_and_nothing_else(shop: Workshop) -> None:
    """Not what the agent left beside it, not the user's files, not a secret of the environment."""
    shop.repository.write(shop.repository.root, {".gitignore": "ignored/\n"})
    shop.repository.commit("ignore")
    shop.repository.write(shop.repository.root, {"user.txt": "mine\n"})
    step = 'test ! -e ignored && test ! -e user.txt && test -z "$TOKENS" && test -e A.txt && test -n "$CI"'
    shop.plan({"id": "A", "description": "$ mkdir ignored; echo x > ignored/x; echo A > A.txt", "test_steps": [step]})
    ended = shop.run("run", TOKENS="t0")
    assert ended.code == 0, ended.out


def test_what_is_claimed_but_not_done_is_no_progress(shop: Workshop) -> None:
    shop.plan(
        {"id": "A", "description": "$ true"},
        {"id": "B", "description": "$ echo B > B.txt; echo \"I would say '<promise>COMPLETE</promise>' now\"; exit 0"},
        {"id": "C", "description": "$ echo C > C.txt; echo '<promise>COMPLETE</promise>'; exit 4"},
        {"id": "D", "description": "$ echo D > D.txt; echo '<promise>COMPLETE</promise>'; kill -9 $$"},
    )
    ended = shop.run("run", "--max-attempts", "1")
    reasons = {name: task["reason"] for name, task in ended.tasks.items()}
    assert (ended.code, set(ended.statuses.values())) == (1, {"failed"})
    assert "changed nothing" in reasons["A"]
    assert "without claiming completion" in reasons["B"]
    assert "exit code 4" in reasons["C"]
    assert "signal 9" in reasons["D"]
    # What they made is not thrown away.
    for name in "BCD":
        assert shop.repository.git("show", f"whilly/{name}:{name}.txt") == name


def test_a_conflict_goes_back_to_the_agent(shop: Workshop) -> None:
    shop.repository.write(shop.repository.root, {"list.txt": "one\ntwo\n"})
    shop.repository.commit("list")
    once = "$ if [ $round = execute ]; then\n$ until grep -q 'end A' $LOG; do sleep 0.02; done"
    shop.plan(
        {"id": "A", "description": "$ until grep -q 'start B' $LOG; do sleep 0.02; done\n$ echo first > list.txt"},
        {"id": "B", "description": f"{once}; sleep 1; echo second > list.txt\n$ else printf '1\\n2\\n' > list.txt; fi"},
    )
    ended = shop.run("run")
    assert ended.code == 0, ended.out
    assert shop.repository.git("show", "whilly/shop:list.txt") == "1\n2"
    assert "start B resolve" in shop.log()
