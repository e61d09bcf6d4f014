"""How an issue is worked on: what has to be shown, in which order, and when it is given up; data, and the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from whilly.domain.intake.task_type import TaskType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.domain.intake.spec import IssueSpec

VERSION: Final = 1


class Strategy(StrEnum):
    """The ways of working; names are an API."""

    BUGFIX_REPRO_FIRST = "bugfix_repro_first"
    FEATURE_PLAN_FIRST = "feature_plan_first"
    REFACTOR_GUARDED = "refactor_guarded"
    DOCS_ONLY = "docs_only"
    UNKNOWN_SAFE_MODE = "unknown_safe_mode"


class Proof(StrEnum):
    """What Whilly itself can see in a change, whatever the agent says."""

    FAILS_BEFORE = "fails_before"
    """A test of the change fails on the base and passes on the head."""
    TESTS_ADDED = "tests_added"
    """The change adds or extends tests."""
    OLD_TESTS_PASS = "old_tests_pass"  # noqa: S105  (no password)
    """The base's version of the tests passes on the head."""
    OLD_TESTS_UNTOUCHED = "old_tests_untouched"
    """No test that the base has is changed."""
    DOCUMENTS_ONLY = "documents_only"
    """Nothing but documents is changed."""
    SMALL = "small"
    """The change stays below the approach's size."""


class Stop(StrEnum):
    """What ends the work before it is done, with a person."""

    NOT_REPRODUCED = "not_reproduced"
    SAME_FAILURE_TWICE = "same_failure_twice"
    TOO_MANY_REPAIRS = "too_many_repairs"
    CHANGE_TOO_LARGE = "change_too_large"
    BASE_IS_RED = "base_is_red"
    BEHAVIOUR_CHANGED = "behaviour_changed"
    CODE_NEEDED = "code_needed"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Approach:
    """What a strategy demands.

    Attributes:
        proofs: all of them, before a pull request is offered as finished.
        steps: what the agent is told, in this order.
        stops: what ends it.
        max_repairs: how often a failed check may be repaired.
        max_lines: of the change, added and removed; 0 is no limit.
        is_draft: its pull request is a draft in any case.
        needs_plan: a plan is made, and checked, before anything is changed.
    """

    strategy: Strategy
    proofs: tuple[Proof, ...]
    steps: tuple[str, ...]
    stops: tuple[Stop, ...]
    max_repairs: int = 3
    max_lines: int = 0
    is_draft: bool = False
    needs_plan: bool = False


_ALWAYS: Final = (Stop.SAME_FAILURE_TWICE, Stop.TOO_MANY_REPAIRS)
APPROACHES: Final[Mapping[Strategy, Approach]] = {
    each.strategy: each
    for each in (
        Approach(
            Strategy.BUGFIX_REPRO_FIRST,
            (Proof.FAILS_BEFORE, Proof.OLD_TESTS_PASS),
            (
                "Reproduce the fault with one new test, and see it fail for the reason that the issue tells.",
                "Find the cause; change as little as mends it, at its place.",
                "Keep the test. It has to fail without your change and to pass with it; both are checked.",
                "If the fault does not show itself, say what you tried, and stop.",
            ),
            (*_ALWAYS, Stop.NOT_REPRODUCED),
        ),
        Approach(
            Strategy.FEATURE_PLAN_FIRST,
            (Proof.TESTS_ADDED, Proof.OLD_TESTS_PASS),
            (
                "Know before you begin which modules and files change, and how each criterion will be checked.",
                "Write a test for each criterion, then what makes it pass.",
                "Add nothing that no criterion asks for; mention it instead.",
                "Update the documents that describe what changes.",
            ),
            (*_ALWAYS, Stop.CHANGE_TOO_LARGE),
            max_lines=2_000,
            needs_plan=True,
        ),
        Approach(
            Strategy.REFACTOR_GUARDED,
            (Proof.OLD_TESTS_PASS, Proof.OLD_TESTS_UNTOUCHED),
            (
                "See that the checks pass before you change anything.",
                "Where behaviour is not covered by a test, pin it with one first, on the old code.",
                "Change the form in small steps; the behaviour stays, and so do the tests that were there.",
                "If a test that was there has to change, the behaviour changes: say so, and stop.",
            ),
            (*_ALWAYS, Stop.BASE_IS_RED, Stop.BEHAVIOUR_CHANGED, Stop.CHANGE_TOO_LARGE),
            max_repairs=2,
            max_lines=1_500,
        ),
        Approach(
            Strategy.DOCS_ONLY,
            (Proof.DOCUMENTS_ONLY,),
            (
                "Change documents only. Check each statement against the code, and each command by running it.",
                "If the code is wrong and not the document, say so, and stop.",
            ),
            (*_ALWAYS, Stop.CODE_NEEDED),
            max_repairs=2,
        ),
        Approach(
            Strategy.UNKNOWN_SAFE_MODE,
            (Proof.SMALL, Proof.OLD_TESTS_PASS),
            (
                "Say first, in a few sentences, what you take the issue to want, and how it is seen that it is done.",
                "Make the smallest change that does it, with a test where one is possible.",
                "If two readings are equally likely, do neither: name both, and stop.",
            ),
            (*_ALWAYS, Stop.UNCLEAR, Stop.CHANGE_TOO_LARGE),
            max_repairs=1,
            max_lines=300,
            is_draft=True,
        ),
    )
}
"""What each strategy demands."""

_BY_TYPE: Final = {
    TaskType.BUGFIX: Strategy.BUGFIX_REPRO_FIRST,
    TaskType.FEATURE: Strategy.FEATURE_PLAN_FIRST,
    TaskType.REFACTOR: Strategy.REFACTOR_GUARDED,
    TaskType.DOCS: Strategy.DOCS_ONLY,
    TaskType.UNKNOWN: Strategy.UNKNOWN_SAFE_MODE,
}
SURE_ENOUGH: Final = 0.5
"""A kind of work that is less sure than this is worked on in safe mode."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A strategy and why it was chosen."""

    approach: Approach
    why: str


def choose_strategy(spec: IssueSpec) -> Choice:
    """The strategy that the issue names, or else the one of its kind."""
    named = (spec.strategy or "").strip().strip("`").casefold().replace("-", "_").replace(" ", "_")
    if named in Strategy.__members__.values():
        return Choice(APPROACHES[Strategy(named)], "the issue asks for it")
    unknown = f"; the issue asks for `{spec.strategy[:40]}`, which is none" if spec.strategy else ""
    if spec.task_type is not TaskType.UNKNOWN and spec.confidence < SURE_ENOUGH:
        why = f"it may be a {spec.task_type}, but that is not sure ({spec.evidence[0]}){unknown}"
        return Choice(APPROACHES[Strategy.UNKNOWN_SAFE_MODE], why)
    return Choice(APPROACHES[_BY_TYPE[spec.task_type]], f"its kind is {spec.task_type}{unknown}")


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in a change, by Whilly's own checks; None is what was not looked at.

    Attributes:
        fails_before: tests of the change that fail on the base and pass on the head.
        tests_added: paths of tests that the base does not have, or has with fewer lines.
        old_tests_changed: paths of tests of the base that are changed or gone.
        old_tests_pass: the base's tests, on the head.
        runners_changed: paths of what says how the base's tests are run that are changed or gone.
        manifests_changed: paths of what may say it, and has to be the head's own: it names dependencies as well; and
            what says it and is new.
        lines: added and removed.
        reasons: why a look at the tests did not show what it was for.
    """

    paths: tuple[str, ...]
    lines: int
    fails_before: tuple[str, ...] | None = None
    tests_added: tuple[str, ...] | None = None
    old_tests_changed: tuple[str, ...] | None = None
    old_tests_pass: bool | None = None
    runners_changed: tuple[str, ...] = ()
    manifests_changed: tuple[str, ...] = ()
    reasons: Mapping[Proof, str] = field(default_factory=dict)


def find_missing(approach: Approach, seen: Seen) -> list[tuple[Proof, str]]:
    """The proofs that a change does not give, each with the reason; what was not looked at is not proven."""
    return [(proof, why) for proof in approach.proofs if (why := _object(proof, approach, seen))]


def _object(proof: Proof, approach: Approach, seen: Seen) -> str:
    others = [each for each in seen.paths if not is_document(each)]
    is_large = seen.lines > approach.max_lines
    objections = {
        Proof.FAILS_BEFORE: ""
        if seen.fails_before
        else "no test of the change fails on the base and passes on the head",
        Proof.TESTS_ADDED: "" if seen.tests_added else "the change adds no test",
        Proof.OLD_TESTS_PASS: "" if seen.old_tests_pass else "the base's tests were not seen to pass on the head",
        Proof.OLD_TESTS_UNTOUCHED: _tell("tests of the base are changed", seen.old_tests_changed),
        Proof.DOCUMENTS_ONLY: _tell("files that are no documents are changed", others),
        Proof.SMALL: f"the change has {seen.lines} lines, more than {approach.max_lines}" if is_large else "",
    }
    return objections[proof] and seen.reasons.get(proof, objections[proof])


def _tell(what: str, paths: Iterable[str] | None) -> str:
    if paths is None:
        return f"it was not looked at whether {what}"
    named = list(paths)
    return f"{what}: {', '.join(named[:5])}{' …' if len(named) > 5 else ''}" if named else ""  # noqa: PLR2004  (a line)


_DOCUMENTS: Final = (".md", ".markdown", ".rst", ".adoc", ".txt", ".mdx")
_PICTURES: Final = (".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp")
_NAMES: Final = frozenset(
    {"license", "copying", "authors", "contributors", "notice", "codeowners", "readme", "changelog"}
)
_INSTRUCTIONS: Final = frozenset({"claude.md", "agents.md", "gemini.md", "requirements.txt", "cmakelists.txt"})


def is_document(path: str) -> bool:
    """Whether a path is a document for people; what steers agents or builds is none."""
    *folders, name = path.casefold().split("/")
    if name in _INSTRUCTIONS or folders[:1] in ([".github"], [".whilly"], [".claude"]):
        return False
    is_in_docs = bool({"docs", "doc", "documentation"} & set(folders))
    return name.endswith(_DOCUMENTS) or name in _NAMES or (is_in_docs and name.endswith(_PICTURES))


def describe_strategy(choice: Choice) -> dict[str, Any]:
    """The choice, for the run's files."""
    approach = choice.approach
    return {
        "version": VERSION,
        "strategy": approach.strategy,
        "why": choice.why,
        "proofs": list(approach.proofs),
        "steps": list(approach.steps),
        "stops": list(approach.stops),
        "max_repairs": approach.max_repairs,
        "max_lines": approach.max_lines,
        "is_draft": approach.is_draft,
        "needs_plan": approach.needs_plan,
    }
