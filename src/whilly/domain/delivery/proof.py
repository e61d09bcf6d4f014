"""What a change shows of itself: which tests are looked at, what was seen, and what is asked for when it is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from whilly.domain.attempt import Evidence
from whilly.domain.failure.verdict import Failure, FailureKind, classify_command, classify_failure
from whilly.domain.intake.strategy import Proof, Seen, find_missing, is_document
from whilly.domain.trust.weakening import is_manifest, is_runner, is_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whilly.domain.change import CheckCommand, Extent
    from whilly.domain.ids import CommitId
    from whilly.domain.intake.strategy import Approach


class Demand(StrEnum):
    """What becomes of a proof that is missing."""

    ASK = "ask"
    """The agent is asked for it, once."""
    DRAFT = "draft"
    """The pull request is a draft that says so."""
    OFF = "off"
    """Nobody looks for it."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A proof that a change does not give, and why.

    Attributes:
        is_weakened: the base's tests fail on the change, whose own version of them passes.
    """

    proof: Proof
    why: str
    is_weakened: bool = False

    @property
    def failure(self) -> Failure:
        """The same as something that did not pass."""
        kind = FailureKind.TESTS_WEAKENED if self.is_weakened else FailureKind.PROOF_MISSING
        return Failure(kind, self.why, f"proof:{self.proof}")


def list_new_tests(extents: Iterable[Extent]) -> tuple[str, ...]:
    """Tests that the change adds or alters, with what lies beside them."""
    return tuple(each.path for each in extents if each.is_there and is_test(each.path))


def list_old_tests(extents: Iterable[Extent]) -> tuple[str, ...]:
    """Tests of the base that the change alters or takes away."""
    return tuple(each.path for each in extents if each.was_there and is_test(each.path))


def list_runners(extents: Iterable[Extent], commands: Iterable[CheckCommand]) -> tuple[str, ...]:
    """What says how the base's tests are run and is no test, as far as the change alters it or takes it away."""
    started = {path for each in commands for path in _list_started(each.run)}
    old = (each.path for each in extents if each.was_there and not is_test(each.path))
    return tuple(path for path in old if is_runner(path) or path in started)


def _list_started(command: str) -> list[str]:
    """The programs of a command line that are paths; what is given to a program is what it works on."""
    found = re.findall(rf"(?:^|[;&|(]\s*){_BEFORE}([\w./-]+)", command)
    return [each.removeprefix("./") for each in found]


_BEFORE: Final = r"\s*(?:(?:\w+=\S*|env|exec|time|(?:ba|da|z|k)?sh(?:\s+-\w+)*|\.|source)\s+)*"
"""What may stand before a program: settings, and a shell that runs a script."""


def _list_manifests(extents: Iterable[Extent]) -> tuple[str, ...]:
    """What may say how tests are run, and is the change's own when the base's tests are run on it."""
    others = [each for each in extents if not is_test(each.path)]
    return tuple(
        each.path for each in others if is_manifest(each.path) or (is_runner(each.path) and not each.was_there)
    )


def pick_tests(commands: Sequence[CheckCommand]) -> tuple[CheckCommand, ...]:
    """Those of the commands that run tests, or all when none is known to; the set-up first. Empty without a check."""
    checks = [each for each in commands if each.kind != "setup"]
    chosen = [each for each in checks if classify_command(each.run) is FailureKind.TEST_FAILED] or checks
    return (*(each for each in commands if each.kind == "setup"), *chosen) if chosen else ()


def list_failing(failure: Evidence, commands: Iterable[CheckCommand]) -> tuple[str, ...]:
    """The tests that failed, or else the command that runs them; empty when it failed for another reason."""
    named = tuple(hint.removeprefix(_FAILING) for hint in failure.hints if hint.startswith(_FAILING))
    if classify_failure(failure) in _NO_TEST:
        return ()
    checks = {each.run for each in commands if each.kind != "setup"}
    return named or ((failure.command,) if failure.command in checks else ())


_FAILING: Final = "failing test: "
_NO_TEST: Final = {FailureKind.COMMAND_MISSING, FailureKind.TIMED_OUT, FailureKind.DEPENDENCY_MISSING}


def see_extents(extents: Sequence[Extent], commands: Sequence[CheckCommand] = ()) -> Seen:
    """What the lines of a change show by themselves; no test was run for it.

    Args:
        extents: of the change.
        commands: that run tests.
    """
    grown = (each for each in extents if each.is_there and (not each.was_there or each.added > each.removed))
    return Seen(
        paths=tuple(each.path for each in extents),
        lines=sum(each.added + each.removed for each in extents),
        tests_added=tuple(each for each in list_new_tests(grown) if not is_document(each)),
        old_tests_changed=list_old_tests(extents),
        runners_changed=list_runners(extents, commands),
        manifests_changed=_list_manifests(extents),
    )


def list_missing(approach: Approach, seen: Seen) -> tuple[Missing, ...]:
    """The proofs that a change does not give."""
    is_weakened = seen.old_tests_pass is False
    return tuple(
        Missing(proof, why, is_weakened and proof is Proof.OLD_TESTS_PASS)
        for proof, why in find_missing(approach, seen)
    )


def tell_seen(approach: Approach, seen: Seen, missing: Iterable[Missing]) -> tuple[tuple[Proof, str], ...]:
    """The proofs that a change gives, each in a sentence for people."""
    lacking = {each.proof for each in missing}
    sentences = {
        Proof.FAILS_BEFORE: f"fails on base, passes here: {_name(seen.fails_before or ())}",
        Proof.TESTS_ADDED: f"tests added: {_name(seen.tests_added or ())}",
        Proof.OLD_TESTS_PASS: f"the tests of the base pass here{_tell_altered(seen)}",
        Proof.OLD_TESTS_UNTOUCHED: "no test of the base is altered",
        Proof.DOCUMENTS_ONLY: "nothing but documents is changed",
        Proof.SMALL: f"the change has {seen.lines} lines",
    }
    return tuple((proof, sentences[proof]) for proof in approach.proofs if proof not in lacking)


def _tell_altered(seen: Seen) -> str:
    """Which of the base's tests were put back for that, and what was not although it may matter."""
    told = ", those that the change alters as they were" if seen.old_tests_changed or seen.runners_changed else ""
    if seen.manifests_changed:
        return f"{told}, with {_name(seen.manifests_changed)} of the change"
    return told or ", none of them altered"


def tell_risks(seen: Seen) -> tuple[str, ...]:
    """What nobody has looked at: what may say how tests are run, and is as the change has it."""
    named = _name(seen.manifests_changed)
    return (f"the change alters what may say how tests are run: {named}",) if named else ()


def ask_for(missing: Sequence[Missing], seen: Seen, base: CommitId, failure: Evidence | None) -> Evidence:
    """What the agent is told of the proofs that it is to bring.

    Args:
        missing: the ones that are asked for.
        seen: what was seen instead.
        base: the commit that the change is against.
        failure: how the base's tests failed on the change, if they did.
    """
    others = [each for each in seen.paths if not is_document(each)]
    old = seen.old_tests_changed or ()
    ways = (*old, *seen.runners_changed)
    restore = f"`git checkout {base[:12]} -- PATH` does that"
    orders = {
        Proof.FAILS_BEFORE: f"Add one test that fails on {base[:12]}, the code before your change, and passes with it. "
        "This is checked: your test files are put on that commit, and run there.",
        Proof.TESTS_ADDED: "Add tests for what your change does.",
        Proof.OLD_TESTS_PASS: f"Put {_name(ways)} back as {base[:12]} has it ({restore}), and let the code pass it; "
        "what is new goes into further tests.",
        Proof.OLD_TESTS_UNTOUCHED: f"Put {_name(old)} back as {base[:12]} has it ({restore}); what is new goes into "
        "further tests.",
        Proof.DOCUMENTS_ONLY: f"Take back what you have changed in {_name(others)}: documents alone are wanted.",
        Proof.SMALL: "Make a smaller change.",
    }
    more = "If that cannot be, leave it as it is, and say why: then a person looks at it."
    reasons = "; ".join(each.why for each in missing)
    return Evidence(
        summary=f"It is not shown that the change does what it should: {reasons}"[:1000],
        output=failure.output if failure else "",
        hints=(*(orders[each.proof] for each in missing), more),
        fingerprint=" ".join(each.failure.fingerprint for each in missing),
    )


def _name(names: Sequence[str]) -> str:
    return f"{', '.join(names[:5])}{' …' if len(names) > 5 else ''}"  # noqa: PLR2004  (a line)
