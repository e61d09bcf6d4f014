"""The environment gives way: one message with a remedy, code 4, and nothing is lost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform != "linux":
    pytest.skip("only Linux has the means to make a small disk", allow_module_level=True)

from whilly.testing.privileges import PLAIN

if TYPE_CHECKING:
    from whilly.testing.workshop import Workshop

FILL = "$ cat /dev/zero > ../../fill; echo x > x.txt"
TWICE = """
mount -t tmpfs -o size=12m none .whilly || exit 99
for number in 1 2; do "$@" > "$WORLD/$number.out" 2> "$WORLD/$number.err"; echo $? > "$WORLD/$number.code"; done
rm .whilly/fill
"$@" > "$WORLD/3.out" 2> "$WORLD/3.err"; echo $? > "$WORLD/3.code"
"""
IN_A_SMALL_PLACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", TWICE, "sh")


def test_a_full_disk_is_told_in_the_same_words_each_time(shop: Workshop) -> None:
    shop.settings("[machine]\nguarded = false\n")
    fill = {"id": "FILL", "description": FILL, "dependencies": ["A"]}
    shop.plan({"id": "A"}, fill, {"id": "B", "dependencies": ["FILL"]})
    (shop.repository.root / ".whilly").mkdir()
    ended = shop.start("run", "--timeout", "60", under=IN_A_SMALL_PLACE, WORLD=str(shop.world)).wait(240)
    assert ended.code == 0, ended.err
    for number in (1, 2):
        err = (shop.world / f"{number}.err").read_text()
        assert (shop.world / f"{number}.code").read_text().strip() == "4", err
        assert "Traceback" not in err
        assert "internal error" not in err
        assert "free some disk space" in err
    assert shop.integrated()[:1] == ["A"]


def test_a_ledger_that_may_not_be_written_is_named_and_can_be_read(shop: Workshop) -> None:
    shop.plan({"id": "A"}, {"id": "B", "test_steps": ["false"]})
    shop.run("run")
    state = shop.repository.root / ".whilly"
    for path in state.glob("whilly.db*"):
        path.chmod(0o400)
    shop.plan({"id": "A"}, {"id": "B"}, {"id": "C"})
    for words in (["run"], ["retry", "B"], ["cancel", "B"], ["reset", "--yes"]):
        ended = shop.run(*words, under=PLAIN)
        assert ended.code == 4, f"{words}: {ended.err}"
        assert f"{state / 'whilly.db'} cannot be read or written" in ended.err
        assert "chmod u+w" in ended.err
        assert "Traceback" not in ended.err
    for words in (["status"], ["why", "B"], ["timeline", "B"], ["logs", "B"], ["report"], ["export", "tasks.json"]):
        ended = shop.run(*words, under=PLAIN)
        assert ended.code == 0, f"{words}: {ended.err}"
    assert "state_unwritable" in shop.run("doctor", "--json", under=PLAIN).out
    for path in state.glob("whilly.db*"):
        path.chmod(0o600)
    assert shop.run("retry", "B").code == 0
