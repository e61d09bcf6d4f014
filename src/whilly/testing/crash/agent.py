"""The agent of the crash matrix, a program of its own: `python -I -S agent.py LOG`.

What it does depends on its item alone (its id says what) and on what it finds in the workspace, so it may be
interrupted and begun again. It commits half of its work itself. In LOG it leaves the attempts that it was started for
and the commits that it made.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zlib
from pathlib import Path

MARKERS = re.compile(r"^(<{7}|\|{7}|={7}|>{7}).*\n", re.MULTILINE)
COST = 0.01


def note(log: str, *words: str) -> None:
    """Append a line in one write."""
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, (" ".join(words) + "\n").encode())
    os.close(fd)


def git(*words: str) -> str:
    """Run git in the workspace; what it says, empty when it refuses."""
    command = ["git", "-c", "user.name=Agent", "-c", "user.email=agent@example.org", *words]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  (words of this program)
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def add_line(path: Path, line: str) -> None:
    """Put a line at the top of the file, once; of a conflict both sides are kept."""
    before = MARKERS.sub("", path.read_text(encoding="utf-8")) if path.exists() else ""
    lines = [line, *(each for each in before.splitlines() if each != line)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def work(item: str, *, is_repair: bool) -> None:
    """Do what the item's name says: `repair`, `conflict`, `fail` and `slow` are special, all others just work."""
    Path(f"{item}.txt").write_text(f"{item}\n", encoding="utf-8")
    if "repair" in item:
        Path("answer.txt").write_text("right\n" if is_repair else "wrong\n", encoding="utf-8")
    if "conflict" in item:
        add_line(Path("shared.txt"), item)
    if "fail" in item:
        with Path(f"{item}.txt").open("a", encoding="utf-8") as file:
            file.write(f"{time.time_ns()}\n")


def main(log: str) -> int:
    """One session."""
    prompt = sys.stdin.read()
    facts = next(line for line in prompt.splitlines() if line.startswith("whilly-item:"))
    item = json.loads(facts.removeprefix("whilly-item:"))["id"]
    attempt = os.environ["WHILLY_ATTEMPT_ID"]  # noqa: TID251  (a program of its own, which Whilly starts)
    note(log, "started", attempt)
    # Different ones live for different times, always the same for the same attempt.
    pause = 0.1 + (zlib.crc32(attempt.encode()) % 100) / 200
    time.sleep(pause)
    patience = time.monotonic() + 120
    while "slow" in item and not Path(log).with_name("go").exists() and time.monotonic() < patience:
        time.sleep(0.05)
    work(item, is_repair="## A check fails" in prompt)
    if zlib.crc32(item.encode()) % 2 and not git("ls-files", "--unmerged"):
        git("add", "--all")
        if git("commit", "--message", f"{item}: by its agent"):
            note(log, "committed", git("rev-parse", "HEAD"))
    time.sleep(pause)
    message = f"Done.\n{'<promise>COMPLETE</promise>'}"
    sys.stdout.write(json.dumps({"type": "result", "message": message, "cost_usd": COST}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
