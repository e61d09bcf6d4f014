"""Stories in which Whilly is killed: how it comes to each point, and how people go on."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from whilly.ports.checkpoint import POINTS
from whilly.testing.crash.site import OUTCOME, Site
from whilly.testing.crash.verdict import PRICE, Fault, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from whilly.testing.crash.site import Facts

LIMIT = 180.0
"""Seconds after which a plan of a few seconds is stuck; the machine may be busy."""
TARGET = "whilly/crash"
RUN = ("run", "tasks.json", "--headless")


@dataclass(frozen=True, slots=True)
class Kill:
    """Where to kill: at the n-th passing of a point, or after some seconds when there is no point.

    Attributes:
        times: how often: the process that goes on is killed as well, until then.
        is_power_cut: agents and their supervisors die too, as when the machine goes down.
    """

    point: str
    number: int = 1
    after: float = 0.0
    times: int = 1
    is_power_cut: bool = False

    @property
    def fuse(self) -> str:
        """For the process that is to be killed."""
        return f"{self.point}:{self.number}"

    @override
    def __str__(self) -> str:
        told = self.fuse if self.point else f"after {self.after:.2f} s"
        return told + (f", {self.times} times" if self.times > 1 else "") + (", power cut" * self.is_power_cut)


def tell(kill: Kill, folder: Path) -> Verdict:
    """Play the story that leads to the kill, go on afterwards, and judge what came of it."""
    site = Site.make(folder)
    verdict = Verdict(str(kill))
    if not kill.point:
        _at_a_moment(site, verdict, kill)
    else:
        _STORIES.get(kill.point.partition(":")[0], _work)(site, verdict, kill)
    return verdict


def _work(site: Site, verdict: Verdict, kill: Kill) -> None:
    """A plan is worked on; then it is worked on again."""
    for _ in range(kill.times):
        _die(site, verdict, kill, *RUN)
        _cut_power(site, kill)
    _go_on(site, verdict, OUTCOME)


def _at_a_moment(site: Site, verdict: Verdict, kill: Kill) -> None:
    for _ in range(kill.times):
        process = site.start(*RUN)
        time.sleep(kill.after)
        process.send_signal(signal.SIGKILL)
        verdict.kills += process.wait() == -signal.SIGKILL
        _cut_power(site, kill)
    _go_on(site, verdict, OUTCOME)


def _stop(site: Site, verdict: Verdict, kill: Kill) -> None:
    """The time limit comes while agents work."""
    _die(site, verdict, kill, *RUN, "--timeout", "2")
    _go_on(site, verdict, OUTCOME)


def _rest(site: Site, verdict: Verdict, kill: Kill) -> None:
    """A plan is left in the middle; another one is begun, and left too; then both are brought to their end."""
    verdict.kills += site.call(*RUN, fuse="end_attempt:after:2", limit=LIMIT) == -signal.SIGKILL
    _die(site, verdict, kill, "run", "other.json", "--headless")
    before = site.read()
    if site.call("run", "other.json", "--headless", limit=LIMIT) != 0:
        verdict.faults.append(Fault("stuck", "the other plan did not come to its end"))
    _go_on(site, verdict, {**OUTCOME, "other": "done"}, before=before, targets=(TARGET, "whilly/other"))


def _cancel(site: Site, verdict: Verdict, kill: Kill) -> None:
    """Whilly is gone, and somebody cancels an item whose agent may be at work."""
    verdict.kills += site.call(*RUN, fuse="start:after:3", limit=LIMIT) == -signal.SIGKILL
    words = ("cancel", "repair")
    _die(site, verdict, kill, *words)
    site.call(*words)
    _go_on(site, verdict, {**OUTCOME, "repair": "skipped"})


def _retry(site: Site, verdict: Verdict, kill: Kill) -> None:
    """What failed is tried again, and fails again."""
    site.call(*RUN, limit=LIMIT)
    words = ("retry", "fail")
    _die(site, verdict, kill, *words)
    site.call(*words)
    _go_on(site, verdict, OUTCOME)


def _reset(site: Site, verdict: Verdict, kill: Kill) -> None:
    """A plan is left in the middle and begun all over."""
    verdict.kills += site.call(*RUN, fuse="start:after:2", limit=LIMIT) == -signal.SIGKILL
    words = ("reset", "--yes")
    _die(site, verdict, kill, *words)
    site.call(*words)
    _go_on(site, verdict, OUTCOME)


def _refresh(site: Site, verdict: Verdict, kill: Kill) -> None:
    """Somebody cancels an item while Whilly waits for an agent, which Whilly hears of."""
    run = ("run", "slow.json", "--headless")
    process = site.start(*run, fuse=kill.fuse)
    deadline = time.monotonic() + LIMIT
    while not site.said("started") and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    site.call("cancel", "later")
    verdict.kills += process.wait(LIMIT) == -signal.SIGKILL
    if not verdict.kills:
        verdict.faults.append(Fault("stuck", f"{kill} was never passed"))
    (site.folder / "go").touch()
    _go_on(site, verdict, {"slow": "done", "later": "skipped"}, run=run, targets=("whilly/slow",))


def _hand_over(site: Site, verdict: Verdict, kill: Kill) -> None:
    """A person has the work when Whilly is killed, and gives it back while it is gone."""
    run = ("run", "person.json", "--headless")
    _die(site, verdict, kill, *run)
    site.call("cancel", "later")
    for place in (site.root / ".whilly" / "handoff").glob("*/meta.json"):
        workspace = json.loads(place.read_bytes())["cwd"]
        site.repository.write(workspace, {"person.txt": "by hand\n"})
    if site.call("handoff", "complete", "person", "--cost-usd", str(PRICE / 1_000_000)) != 0:
        verdict.faults.append(Fault("stuck", "what a person gave back was not taken"))
    _go_on(site, verdict, {"person": "done", "later": "skipped"}, run=run, targets=("whilly/person",))


def _steer(*words: str) -> Callable[[Site, Verdict, Kill], None]:
    """Whilly is gone while an agent works, and somebody says something about the task."""

    def play(site: Site, verdict: Verdict, kill: Kill) -> None:
        run = ("run", "slow.json", "--headless")
        verdict.kills += site.call(*run, fuse="start:after:1", limit=LIMIT) == -signal.SIGKILL
        site.call("cancel", "later")
        _die(site, verdict, kill, *words)
        if site.call(*words) != 0:
            verdict.faults.append(Fault("stuck", f"whilly {' '.join(words)} was refused"))
        site.call("retry", "slow")
        (site.folder / "go").touch()
        _go_on(site, verdict, {"slow": "done", "later": "skipped"}, run=run, targets=("whilly/slow",))

    return play


def _accept(site: Site, verdict: Verdict, kill: Kill) -> None:
    """Whilly is gone while an agent works, and somebody agrees to what is not there yet, which is refused."""
    run = ("run", "slow.json", "--headless")
    verdict.kills += site.call(*run, fuse="start:after:1", limit=LIMIT) == -signal.SIGKILL
    site.call("cancel", "later")
    _die(site, verdict, kill, "accept", "slow", "c0ffee7")
    (site.folder / "go").touch()
    _go_on(site, verdict, {"slow": "done", "later": "skipped"}, run=run, targets=("whilly/slow",))


_STORIES: Final[Mapping[str, Callable[[Site, Verdict, Kill], None]]] = {
    "stop": _stop,
    "rest": _rest,
    "cancel": _cancel,
    "retry": _retry,
    "reset": _reset,
    "refresh": _refresh,
    "hand_over": _hand_over,
    "stop_attempt": _steer("stop", "slow"),
    "accept": _accept,
    "tell": _steer("say", "slow", "take your time"),
}
"""For points that working on a plan does not pass; each begins with the name of the point's unit."""


def _cut_power(site: Site, kill: Kill) -> None:
    if kill.is_power_cut:
        site.leftovers(patience=0)


def _die(site: Site, verdict: Verdict, kill: Kill, *words: str) -> None:
    code = site.call(*words, fuse=kill.fuse, limit=LIMIT)
    if code == -signal.SIGKILL:
        verdict.kills += 1
    elif kill.number == 1 and not verdict.kills:
        verdict.faults.append(Fault("stuck", f"{kill} was never passed: exit code {code}"))


def _go_on(
    site: Site,
    verdict: Verdict,
    expected: Mapping[str, str],
    *,
    run: tuple[str, ...] = RUN,
    before: Facts | None = None,
    targets: tuple[str, ...] = (TARGET,),
) -> None:
    """Run Whilly to the end, as a person would after the machine came back, and look."""
    before = before or site.read()
    passed, begun = len(site.passed()), time.monotonic()
    ended = site.call(*run, limit=LIMIT)
    begins = [at for name, at in site.passed()[passed:] if name == "begin:after"]
    verdict.recovery = begins[0] - begun if begins else None
    if ended is None:
        verdict.faults.append(Fault("stuck", f"it did not end within {LIMIT:.0f} s"))
    elif ended != 1:
        verdict.faults.append(Fault("status", f"exit code {ended} instead of 1: something is not done"))
    verdict.faults += judge(site, before, expected, targets)


def every_point() -> list[Kill]:
    """Each point at its first passing."""
    return [Kill(point) for point in POINTS]
