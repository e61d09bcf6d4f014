"""The scenarios: each has one or two sessions, looks at what Whilly makes of them, and says so in a few words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from whilly.domain.attempt import Outcome
from whilly.domain.ids import SessionId
from whilly.domain.session import Prior, claims_completion
from whilly.testing.conformance.bench import Way, sum_tokens
from whilly.testing.conformance.verdict import Cannot, require
from whilly.testing.models.canned import SILENCE
from whilly.testing.models.script import INPUT_TOKENS, OUTPUT_TOKENS, Script, fail, say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from whilly.domain.attempt import Usage
    from whilly.domain.session import Launch, SessionReport
    from whilly.testing.conformance.bench import Bench, Seen
    from whilly.testing.models.canned import Answer
    from whilly.testing.models.script import Turn

DONE = say("Done. <promise>COMPLETE</promise>")
TASK = "TASK of the kit"
SLEEP = "python3 -c 'import time; time.sleep(300)'"
# Claude Code refuses to sleep for long.
BACKGROUND = "nohup tail -f /dev/null >/dev/null 2>&1 & setsid tail -f /dev/null >/dev/null 2>&1 & echo left"
STAYS = '"$@"; exec tail -f /dev/null'
CLOSED = 'exec "$@" <&-'
OPEN_FOR_LONG = """
hold() {
  cat
  left=80
  until [ -e begun ] || [ $left = 0 ]; do sleep 0.1; left=$((left - 1)); done
  if [ -e begun ]; then touch early; fi
}
hold | "$@"
"""
"""The input is closed as soon as a tool has worked, or after eight seconds: some wait for its end before they begin."""
DEPOSIT = Decimal("0.001")
LONG = 400_000
MANY_REQUESTS = 12


def tell(seen: Seen) -> str:
    """What Whilly made of a session, for messages."""
    return f"{seen.report.outcome}: {seen.report.reason or seen.report.final_message[-80:]!r}"


def require_outcome(seen: Seen, *outcomes: Outcome) -> None:
    """Whilly took it for one of these, and nothing of it is left."""
    require(that=seen.report.outcome in outcomes, otherwise=f"taken for {tell(seen)}")
    require(that=not seen.left, otherwise=f"left running: {', '.join(seen.left)}")


async def completes(bench: Bench) -> str:
    """An answer with the marker; tokens, and money where it can be known, are told exactly."""
    with bench.model(Script(TASK, (DONE,))) as model:
        agent = bench.agent(model.url)
        seen = await bench.play(agent, TASK)
    require_outcome(seen, Outcome.COMPLETED)
    require(that=claims_completion(seen.report.final_message), otherwise=f"no marker in {seen.report.final_message!r}")
    usage = seen.report.usage
    counted = (usage.input_tokens, usage.output_tokens) if usage else (0, 0)
    require(that=counted == (INPUT_TOKENS, OUTPUT_TOKENS), otherwise=f"tokens counted: {counted}")
    is_known = usage is not None and usage.cost_usd is not None and usage.cost_usd > 0
    require(that=is_known == agent.facts().reports_cost, otherwise="its cost is not what its facts promise")
    return f"{sum(counted)} tokens" + (f", ${usage.cost_usd}" if usage and is_known else ", cost unknown")


async def edits_and_commits(bench: Bench) -> str:
    """A file is written with its tool and committed with its shell."""
    bench.git("init", "--quiet")
    turns = (bench.rig.write("hello.txt", "hi\n"), bench.rig.shell("git add -A && git commit -qm kit"), DONE)
    with bench.model(Script(TASK, turns)) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
    require_outcome(seen, Outcome.COMPLETED)
    committed = bench.git("show", "HEAD:hello.txt")
    require(that=committed == "hi\n", otherwise=f"committed: {committed!r}")
    told = [activity.text for activity in seen.activities]
    require(that=any("hello.txt" in text for text in told), otherwise=f"told of its work: {told}")
    return "; ".join(text[:40] for text in told[:2])


async def says_it_failed(bench: Bench) -> str:
    """A final message without the marker ends the session in order, and claims nothing."""
    with bench.model(Script(TASK, (say("I could not do it."),))) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
    require_outcome(seen, Outcome.COMPLETED)
    require(that=not claims_completion(seen.report.final_message), otherwise="taken for a claim")
    return "ends without a claim"


async def is_refused(bench: Bench) -> str:
    """The provider does not accept the request: nothing that time or a login would mend."""
    with bench.model(Script(TASK, then=fail(400, "invalid_request_error", "bad request"))) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
    require_outcome(seen, Outcome.CRASHED)
    return "crashed, with the provider's words" if "bad request" in seen.report.reason else "crashed"


async def never_completes(bench: Bench) -> str:
    """A model that goes on for ever is stopped by a limit of turns, or from outside."""
    commands = iter(range(1000))
    turns = tuple(bench.rig.shell(f"echo {next(commands)}") for _ in range(40))
    with bench.model(Script(TASK, turns, then=bench.rig.shell("true"))) as model:
        agent = bench.agent(model.url)
        bounds = agent.facts().bounds_turns
        endless = Way(until=lambda: len(model.requests()) >= MANY_REQUESTS)
        seen = await bench.play(agent, TASK, Way(max_turns=3) if bounds else endless)
    if not bounds:
        require_outcome(seen, Outcome.INTERRUPTED)
        message = "has no limit of turns; ended from outside"
        raise Cannot(message)
    require_outcome(seen, Outcome.NO_PROGRESS)
    return "stops at its limit of turns"


async def one_429(bench: Bench) -> str:
    """A passing limit is waited for."""
    script = Script(TASK, (DONE,), once=fail(429, "rate_limit_error", "slow down"))
    with bench.model(script) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
    require_outcome(seen, Outcome.COMPLETED)
    return "tries again and completes"


async def many_429(bench: Bench) -> str:
    """A limit that stays is one of the account, not a failure."""
    return await _meet_status(bench, fail(429, "rate_limit_error", "slow down"), Outcome.LIMITED)


async def overloaded(bench: Bench) -> str:
    """A provider that is overloaded is unavailable for a while."""
    return await _meet_status(bench, fail(529, "overloaded_error", "overloaded"), Outcome.UNAVAILABLE)


async def bad_login(bench: Bench) -> str:
    """A refused key is told soon, with the remedy."""
    return await _meet_status(bench, fail(401, "authentication_error", "invalid api key"), Outcome.AUTH_FAILED)


async def _meet_status(bench: Bench, turn: Turn, outcome: Outcome) -> str:
    with bench.model(Script(TASK, then=turn)) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
        count = len(model.requests())
    require_outcome(seen, outcome)
    require(that=count <= MANY_REQUESTS, otherwise=f"{count} requests")
    usage = seen.report.usage
    require(that=usage is not None and usage.cost_usd == 0, otherwise="a refusal counts as spent money")
    return f"{outcome.replace('_', ' ')}, {count} requests"


async def usage_limit(bench: Bench) -> str:
    """A used-up account is no failure; with the time at which it goes on, where the CLI tells it."""
    resets_at = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=3)  # noqa: TID251  (the CLI's clock)
    with bench.answering(bench.rig.limit_usage(resets_at)) as server:
        agent = bench.agent(server.url, is_subscribed=True)
        seen = await bench.play(agent, TASK, prior=Prior(bench.rig.model, began_at=datetime.now(UTC)))  # noqa: TID251  (the same)
        count = len(server.requests)
    require_outcome(seen, Outcome.LIMITED)
    told = seen.report.retry_at
    if told is None:
        return f"limited, without a time; {count} requests"
    require(that=abs(told - resets_at) < timedelta(minutes=1), otherwise=f"until {told} instead of {resets_at}")
    return f"limited until its reset; {count} requests"


async def silent_start(bench: Bench) -> str:
    """A provider that accepts the connection and says nothing."""
    return await _hang(bench, SILENCE)


async def silent_middle(bench: Bench) -> str:
    """A provider that stops in the middle of its answer."""
    return await _hang(bench, bench.rig.stall())


async def _hang(bench: Bench, answer: Answer) -> str:
    with bench.answering(answer) as server:
        asked = Way(until=lambda: any(each.startswith("POST") for each in server.requests))
        seen = await bench.play(bench.agent(server.url), TASK, asked)
    require_outcome(seen, Outcome.INTERRUPTED)
    usage = seen.report.usage
    require(that=usage is None or usage.cost_usd is None, otherwise="a cost that nobody can know")
    return "ended from outside; its cost counts as unknown"


async def leaves_processes(bench: Bench) -> str:
    """What the agent's shell leaves in the background does not outlive the session."""
    with bench.model(Script(TASK, (bench.rig.shell(BACKGROUND), DONE))) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
    require_outcome(seen, Outcome.COMPLETED)
    return "nothing left after it"


async def stays_after_result(bench: Bench) -> str:
    """The CLI has given its result, and something keeps its process and its output open."""
    with bench.model(Script(TASK, (DONE,))) as model:
        agent = bench.agent(model.url)
        stays = Way(after_result=timedelta(seconds=5), change=_by_shell(STAYS))
        seen = await bench.play(agent, TASK, stays)
    require_outcome(seen, Outcome.COMPLETED)
    require(that=claims_completion(seen.report.final_message), otherwise=f"no marker in {seen.report.final_message!r}")
    counted = sum_tokens(seen.report.usage)
    require(that=counted == INPUT_TOKENS + OUTPUT_TOKENS, otherwise=f"tokens counted: {counted}")
    return "ended from outside; its result stands"


async def input_closed(bench: Bench) -> str:
    """Its standard input is closed before it begins, so that there is no prompt."""
    with bench.model(Script(TASK, (DONE,))) as model:
        seen = await bench.play(bench.agent(model.url), TASK, Way(change=_by_shell(CLOSED)))
        count = len(model.requests())
    require_outcome(seen, Outcome.CRASHED)
    require(that=count == 0, otherwise=f"{count} requests without a prompt")
    return "ends at once, without a request"


async def input_ends_late(bench: Bench) -> str:
    """Its standard input stays open behind the prompt, and is closed in mid-session."""
    turns = (bench.rig.shell("touch begun"), DONE)
    with bench.model(Script(TASK, turns)) as model:
        seen = await bench.play(bench.agent(model.url), TASK, Way(change=_by_shell(OPEN_FOR_LONG)))
    require_outcome(seen, Outcome.COMPLETED)
    begins_early = (bench.workspace / "early").exists()
    return "works on when it is closed" if begins_early else "begins when it is closed"


def _by_shell(program: str) -> Callable[[Launch], Launch]:
    """Let a shell start the CLI, which is in `"$@"`."""
    return lambda launch: replace(launch, argv=("/bin/sh", "-c", program, "sh", *launch.argv))


async def stopped(bench: Bench) -> str:
    """Asked to end (TERM) while a tool works."""
    return await _end(bench, "term")


async def killed(bench: Bench) -> str:
    """Ended by its supervisor without grace."""
    return await _end(bench, "kill")


async def killed_outside(bench: Bench) -> str:
    """The CLI's process alone is killed from outside."""
    return await _end(bench, "agent")


async def group_killed(bench: Bench) -> str:
    """The CLI's process group is killed from outside."""
    return await _end(bench, "group")


async def _end(bench: Bench, how: str) -> str:
    begun = bench.workspace / "begun"
    command = f"tail -f /dev/null & touch begun; {SLEEP}"
    with bench.model(Script(TASK, (bench.rig.shell(command), DONE))) as model:
        seen = await bench.play(bench.agent(model.url), TASK, Way(until=begun.exists, end=how))
    require(that=seen.was_ended, otherwise=f"it ended by itself: {tell(seen)}")
    require_outcome(seen, Outcome.INTERRUPTED, Outcome.CRASHED)
    return f"{seen.report.outcome}, nothing left"


async def resumes(bench: Bench) -> str:
    """The conversation goes on in a new process, and only what is new is booked."""
    scripts = (Script(TASK, (bench.rig.shell("true"), DONE)), Script("GO ON", (DONE,), start=2))
    with bench.model(*scripts) as model:
        agent = bench.agent(model.url)
        first = await bench.play(agent, TASK)
        require_outcome(first, Outcome.COMPLETED)
        second = await bench.play(agent, "GO ON", prior=_go_on(bench, first.report))
    require_outcome(second, Outcome.COMPLETED)
    require(that=claims_completion(second.report.final_message), otherwise=f"said {second.report.final_message!r}")
    usage = second.report.usage
    require(
        that=usage is not None and usage.input_tokens == INPUT_TOKENS,
        otherwise=f"{usage.input_tokens if usage else 'no'} tokens instead of {INPUT_TOKENS}",
    )
    return "goes on; only what is new is booked"


def _go_on(bench: Bench, report: SessionReport) -> Prior:
    known = Prior(bench.rig.model, report.session)
    return replace(known, booked=report.usage) if report.usage else known


async def resumes_after_kill(bench: Bench) -> str:
    """A session that was killed goes on, and none of its tokens are booked twice."""
    begun = bench.workspace / "begun"
    cut = Script(TASK, (bench.rig.shell("true"), bench.rig.shell(f"touch begun; {SLEEP}")))
    with bench.model(Script("ONE", (DONE,)), cut, Script("GO ON", then=DONE)) as model:
        agent = bench.agent(model.url)
        one = (await bench.play(agent, "ONE")).report.usage
        first = await bench.play(agent, TASK, Way(until=begun.exists, end="kill"))
        before = len(model.requests())
        prior = replace(_go_on(bench, first.report), deposit=DEPOSIT)
        second = await bench.play(agent, "GO ON", prior=prior)
        own = len(model.requests()) - before
    require_outcome(first, Outcome.INTERRUPTED)
    require_outcome(second, Outcome.COMPLETED)
    return _look_for_doubles(one, second.report, own)


def _look_for_doubles(one: Usage | None, report: SessionReport, own: int) -> str:
    """Whether what is booked is its own requests, or what the session has told with what stood for it taken off."""
    require(that=sum_tokens(one) > 0, otherwise="no tokens are counted")
    told = sum_tokens(report.usage) // sum_tokens(one)
    cost = report.usage.cost_usd if report.usage else None
    unit = one.cost_usd if one else None
    booked = f"{told} requests, ${cost}; it made {own}, ${unit} each"
    require(that=told >= own, otherwise=booked)
    taken_off = DEPOSIT if told > own else 0
    require(that=unit is None or cost == told * unit - taken_off, otherwise=booked)
    return "tells its past too, which is taken off" if told > own else "goes on; only what is new is booked"


async def unknown_session(bench: Bench) -> str:
    """A session that does not exist is told as lost, so that a fresh one is started."""
    with bench.model(Script(TASK, (DONE,))) as model:
        agent = bench.agent(model.url)
        session = (await bench.play(agent, TASK)).report.session or ""
        other = "".join("1" if char.isdigit() else char for char in session)
        missing = replace(Prior(bench.rig.model), session=SessionId(other))
        seen = await bench.play(agent, TASK, prior=missing)
    require_outcome(seen, Outcome.CRASHED)
    require(that=seen.report.is_session_lost, otherwise=f"not told as lost: {seen.report.reason}")
    return "told as lost"


async def long_line(bench: Bench) -> str:
    """A file of hundreds of kilobytes in one line."""
    with bench.model(Script(TASK, (bench.rig.write("big.txt", "x" * LONG), DONE))) as model:
        seen = await bench.play(bench.agent(model.url), TASK)
    require_outcome(seen, Outcome.COMPLETED)
    size = (bench.workspace / "big.txt").stat().st_size
    require(that=size >= LONG, otherwise=f"{size} bytes written")
    return f"longest line {seen.longest_line:,} bytes"


SCENARIOS: Mapping[str, Callable[[Bench], Awaitable[str]]] = {
    scenario.__name__: scenario
    for scenario in (
        *(completes, edits_and_commits, says_it_failed, is_refused, never_completes),
        *(one_429, many_429, usage_limit, bad_login, overloaded),
        *(silent_start, silent_middle, stays_after_result, leaves_processes),
        *(stopped, killed, killed_outside, group_killed),
        *(resumes, resumes_after_kill, unknown_session, long_line, input_closed, input_ends_late),
    )
}
