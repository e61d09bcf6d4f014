"""Rounds of judgement: what was found each time that a change was looked at, and what followed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from whilly.domain.delivery.proof import Missing
from whilly.domain.delivery.pull_request_text import Checked
from whilly.domain.failure.verdict import Bounds, Failure, FailureKind, Ruling, Verdict, give_verdict
from whilly.domain.ids import AttemptId, CommitId
from whilly.domain.intake.strategy import Proof

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION: Final = 1
"""Of the form of `verdict.json`. Fields may be added; none changes its meaning."""
_OUTPUT: Final = 4_000
"""Characters of a command's output that are kept."""


@dataclass(frozen=True, slots=True)
class Round:
    """One look at a change.

    Attributes:
        commit: what was looked at.
        base: what it was compared with.
        failures: what did not pass; when that is a proof, it was asked for.
        seen: proofs that the change gives, each in a sentence for people.
        missing: proofs that it does not give.
        lines: added and removed.
    """

    attempt: AttemptId
    commit: CommitId
    ruling: Ruling
    failures: tuple[Failure, ...] = ()
    seen: tuple[tuple[Proof, str], ...] = ()
    missing: tuple[Missing, ...] = ()
    checks: tuple[Checked, ...] = ()
    lines: int = 0
    base: CommitId | None = None

    @property
    def is_known_to_fail(self) -> bool:
        """Whether it is shown although something does not pass, since no repair has mended it."""
        return self.ruling.verdict is Verdict.ESCALATE and bool(self.failures)


def judge_round(
    failures: Sequence[Failure], missing: Sequence[Missing], rounds: Sequence[Round], bounds: Bounds, lines: int
) -> tuple[Ruling, tuple[Failure, ...]]:
    """What follows from a look at a change, and because of which failures.

    A proof is asked for once in a run; nothing is repaired for its sake that could not be repaired anyway.

    Args:
        failures: of checks; what is missing counts when there are none.
        missing: proofs that may be asked for.
        rounds: the earlier ones, the oldest first.
        bounds: how much is tried.
        lines: of the change, added and removed.
    """
    if failures:
        return give_verdict(failures, _list_repaired(rounds), bounds, lines), tuple(failures)
    asked = {each.fingerprint for known in rounds for each in known.failures}
    wanted = tuple(each.failure for each in missing if each.failure.fingerprint not in asked)
    ruling = give_verdict(wanted, (), bounds, lines)
    if ruling.verdict is Verdict.REPAIR:
        return ruling, wanted
    return give_verdict((), (), bounds, lines), ()


def _list_repaired(rounds: Sequence[Round]) -> list[str]:
    """What was to be repaired since the change was let through, or a person was asked, last; one for each repair."""
    latest = takewhile(lambda known: known.ruling.verdict is Verdict.REPAIR, reversed(rounds))
    repaired = [known.failures[0].fingerprint for known in latest if not _is_for_proofs(known)]
    return repaired[::-1]


def _is_for_proofs(known: Round) -> bool:
    return all(each.fingerprint.startswith("proof:") for each in known.failures)


def describe_rounds(rounds: Sequence[Round]) -> dict[str, Any]:
    """`verdict.json`: the latest ruling, and all rounds."""
    last = rounds[-1].ruling
    return {
        "version": VERSION,
        "verdict": last.verdict,
        "reason": last.reason,
        "has_value": last.has_value,
        "rounds": [_describe(each) for each in rounds],
    }


def _describe(known: Round) -> dict[str, Any]:
    words = {True: "passed", False: "failed", None: "not_run"}
    checks = [(each.command, words[each.has_passed], each.output[-_OUTPUT:]) for each in known.checks]
    return {
        "attempt": known.attempt,
        "commit": known.commit,
        "base": known.base,
        "verdict": known.ruling.verdict,
        "reason": known.ruling.reason,
        "has_value": known.ruling.has_value,
        "lines": known.lines,
        "failures": [{"kind": f.kind, "summary": f.summary, "fingerprint": f.fingerprint} for f in known.failures],
        "proofs": {
            "seen": [{"proof": proof, "how": how} for proof, how in known.seen],
            "missing": [{"proof": each.proof, "why": each.why} for each in known.missing],
        },
        "checks": [{"command": command, "result": word, "output": said} for command, word, said in checks],
    }


def parse_rounds(document: Mapping[str, Any]) -> tuple[Round, ...]:
    """The inverse of `describe_rounds`; none where the document is damaged."""
    try:
        rounds = tuple(_parse(each) for each in document.get("rounds", ()))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ()
    texts = [text for known in rounds for text in _list_texts(known)]
    are_whole = all(isinstance(known.lines, int) for known in rounds)
    return rounds if are_whole and all(isinstance(text, str) for text in texts) else ()


def _list_texts(known: Round) -> list[object]:
    """What has to be text in a round; a document says nothing about types."""
    failures = [text for each in known.failures for text in (each.summary, each.fingerprint)]
    checks = [text for each in known.checks for text in (each.command, each.output)]
    proofs = [how for _, how in known.seen] + [each.why for each in known.missing]
    return [known.attempt, known.commit, known.base or "", known.ruling.reason, *failures, *checks, *proofs]


def _parse(known: Mapping[str, Any]) -> Round:
    words = {"passed": True, "failed": False}
    return Round(
        attempt=AttemptId(known["attempt"]),
        commit=CommitId(known["commit"]),
        ruling=Ruling(Verdict(known["verdict"]), known["reason"], known["has_value"]),
        failures=tuple(Failure(FailureKind(f["kind"]), f["summary"], f["fingerprint"]) for f in known["failures"]),
        seen=tuple((Proof(each["proof"]), each["how"]) for each in known["proofs"]["seen"]),
        missing=tuple(Missing(Proof(each["proof"]), each["why"]) for each in known["proofs"]["missing"]),
        checks=tuple(Checked(each["command"], words.get(each["result"]), each["output"]) for each in known["checks"]),
        lines=known["lines"],
        base=CommitId(known["base"]) if known["base"] else None,
    )
