"""A scratch repository in which the installed `whilly` works, with agents that do what their task says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import psutil

from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_AGENT = """\
# Does what the lines of the prompt say that begin with "$ ", in the workspace, and claims completion.
item=$(sed -n 's/^# Task \\([^ ]*\\).*/\\1/p' "$prompt" | head -1)
round=execute
grep -q '^## A check fails' "$prompt" && round=repair
grep -q '^## Your change conflicts' "$prompt" && round=resolve
grep -q '^## People ask for changes' "$prompt" && round=address
echo "start $item $round" >> "$LOG"
sed -n 's/^[$] //p' "$prompt" > "$home/script.sh"
. "$home/script.sh"
echo "end $item $round" >> "$LOG"
"""
_SETTINGS = """
[machine]
max_cpu_percent = 0
[agent]
name = "sh"
grace_s = 1
[agents.sh]
argv = ["sh", "{program}", "{{home}}", "{{prompt_file}}", "{{resume}}"]
cost = "free"
env_set = {{ LOG = "{log}", WORLD = "{world}" }}
[agents.paid]
argv = ["sh", "{paid}", "{{home}}", "{{prompt_file}}", "{{resume}}"]
output = "jsonl"
cost = "reported"
env_set = {{ LOG = "{log}", WORLD = "{world}", COST = "0.5" }}
login = "sh --login"
"""
WAIT = 'until [ -e "$WORLD/go" ]; do sleep 0.02; done'
"""What an agent does that is to be there until the test lets it go on: a line of a task's description."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What one `whilly` left."""

    code: int
    out: str
    err: str
    seconds: float = 0.0

    def objects(self, event: str = "") -> list[dict[str, Any]]:
        """The JSON lines that it wrote; those of one kind."""
        lines = [json.loads(line) for line in self.out.splitlines()]
        return [line for line in lines if event in {"", line["event"]}]

    @property
    def complete(self) -> dict[str, Any]:
        """The object that it wrote last."""
        (last,) = self.objects("complete")[-1:]
        return last

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """The tasks of its report, by id."""
        report = json.loads(Path(self.complete["report"]).with_suffix(".json").read_text(encoding="utf-8"))
        return {task["id"]: task for task in report["items"]}

    @property
    def statuses(self) -> dict[str, str]:
        """Where the tasks stand."""
        return {name: task["status"] for name, task in self.tasks.items()}


@final
class Running:
    """A `whilly` that was started."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], folder: Path) -> None:
        self._begun = time.monotonic()
        self._out, self._err = folder / f"{time.monotonic_ns()}.out", folder / f"{time.monotonic_ns()}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(  # noqa: S603  (what the test says)
                argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )

    @property
    def out(self) -> str:
        """What it has written so far."""
        return self._out.read_text(encoding="utf-8")

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Send it a signal, as Ctrl-C does."""
        self.process.send_signal(number)

    def wait(self, seconds: float = 60.0) -> Ended:
        """Its end.

        Raises:
            TimeoutExpired: it does not end.
        """
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        text = self._err.read_text(encoding="utf-8")
        return Ended(code, self.out, text, time.monotonic() - self._begun)

    def kill(self) -> None:
        """End it as the system does when memory is short."""
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Workshop:
    """The repository, and a folder beside it for what agents and tests tell each other.

    Attributes:
        environ: what every command gets to see.
    """

    repository: ScratchRepository
    world: Path
    environ: Mapping[str, str]
    started: list[Running] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path, path: str, name: str = "repo") -> Workshop:
        """A workshop below `folder`.

        Args:
            folder: an empty one.
            path: where programs are looked for.
            name: of the repository's directory.
        """
        made = ScratchRepository.make(folder)
        if name != "repo":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            made = ScratchRepository(made.root.rename(folder / name), made.home)
        world = folder / "world"
        world.mkdir()
        shop = cls(made, world, {"PATH": path, "HOME": str(made.home), "GIT_CONFIG_NOSYSTEM": "1"})
        head = "home=$1; prompt=$2; resumed=$3\n"
        (world / "agent.sh").write_text(f"{head}{_AGENT}echo '<promise>COMPLETE</promise>'\n", encoding="utf-8")
        result = '{"type": "result", "message": "<promise>COMPLETE</promise>", "cost_usd": %s}\\n'
        (world / "paid.sh").write_text(f"{head}{_AGENT}printf '{result}' \"$COST\"\n", encoding="utf-8")
        shop.settings()
        return shop

    def settings(self, text: str = "") -> None:
        """Write `whilly.toml`: these lines, and what drives the agents `sh` (free) and `paid` (half a dollar)."""
        names = {"program": self.world / "agent.sh", "paid": self.world / "paid.sh", "world": self.world}
        drivers = _SETTINGS.format(log=self.world / "log", **names)
        table: dict[str, str] = {}
        head, *tables = f"\n{drivers}\n{text}".split("\n[")
        for part in tables:
            title, _, lines = part.partition("]\n")
            table[title] = f"{_without(table.get(title, ''), lines)}\n{lines}"
        text = head + "".join(f"\n[{title}]\n{lines}" for title, lines in table.items())
        (self.repository.root / "whilly.toml").write_text(text, encoding="utf-8")

    def plan(self, *tasks: Mapping[str, object], name: str = "tasks.json", **fields: object) -> Path:
        """Write a plan file; tasks without a description make a file with their name."""
        path = self.repository.root / name
        made = [{"description": f"$ echo {task['id']} > {task['id']}.txt", **task} for task in tasks]
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"project": "shop", **fields, "tasks": made}, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words: str, cwd: Path | None = None, under: Sequence[str] = (), **environ: str) -> Running:
        """Start the installed `whilly` with these words; `under` is a program that starts it."""
        argv = [*under, sys.executable, "-m", "whilly", *words]
        running = Running(argv, cwd or self.repository.root, {**self.environ, **environ}, self.world)
        self.started.append(running)
        return running

    def run(self, *words: str, cwd: Path | None = None, under: Sequence[str] = (), **environ: str) -> Ended:
        """The same, to its end."""
        return self.start(*words, cwd=cwd, under=under, **environ).wait()

    def let_go(self) -> None:
        """Agents and checks that wait for it go on."""
        (self.world / "go").touch()

    def log(self) -> list[str]:
        """What agents wrote down: `start T-1 execute`, `end T-1 execute`."""
        path = self.world / "log"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def wait_for(self, is_so: Callable[[], object], seconds: float = 30.0) -> None:
        """Look until it is so.

        Raises:
            AssertionError: it never is.
        """
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                told = "\n".join(running.out for running in self.started)
                message = f"it never became so; agents say {self.log()}, whilly says\n{told}"
                raise AssertionError(message)
            time.sleep(0.02)

    def processes(self) -> list[str]:
        """Every process of an attempt in this repository."""
        found = []
        for process in self._find_processes():
            # It may have ended since it was found.
            with suppress(psutil.Error):
                found.append(" ".join([str(process.pid), *process.cmdline()])[:200])
        return found

    def _find_processes(self) -> list[psutil.Process]:
        state = os.path.realpath(self.repository.root / ".whilly")
        found = []
        for process in psutil.process_iter():
            try:
                is_ours = process.environ().get("WHILLY_STATE_DIR") == state
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def integrated(self, branch: str = "whilly/shop") -> list[str]:
        """The tasks whose commits are on the branch and not on `main`, the oldest first."""
        if f"refs/heads/{branch}" not in self.repository.refs():
            return []
        form = "--format=%(trailers:key=Whilly-Item,valueonly,separator=%x2C)"
        return self.repository.git("log", "--reverse", form, f"main..{branch}").split()

    def close(self) -> None:
        """End what a failing test has left."""
        for running in self.started:
            if running.process.poll() is None:
                running.kill()
        while left := self._find_processes():
            for process in left:
                with suppress(psutil.Error):
                    process.kill()


def _without(lines: str, others: str) -> str:
    """The lines whose keys the others do not set."""
    keys = {line.partition("=")[0].strip() for line in others.splitlines() if "=" in line}
    return "\n".join(line for line in lines.splitlines() if line.partition("=")[0].strip() not in keys)
