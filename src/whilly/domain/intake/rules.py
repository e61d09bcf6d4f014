"""The rules of readiness, one function each: what is missing from an issue, and what has to be assumed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from whilly.domain.claims import covers, outside, overlaps
from whilly.domain.intake.contradictions import find_contradictions
from whilly.domain.intake.task_type import TaskType
from whilly.domain.text.clean import HIDDEN

if TYPE_CHECKING:
    from whilly.domain.intake.spec import IssueSpec


@dataclass(frozen=True, slots=True)
class Scope:
    """What the repository's profile allows to change.

    Attributes:
        allowed: normalised claims; empty allows everything.
        forbidden: normalised claims.
    """

    allowed: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an issue does not say, or says in a way that cannot be worked with.

    Attributes:
        rule: a name for it; an API.
        blocks: somebody has to answer; otherwise `text` is an assumption.
        text: what is missing, or what is assumed.
        question: for the author, where it blocks.
    """

    rule: str
    blocks: bool
    text: str
    question: str = ""


Rule = Callable[["IssueSpec", Scope], Iterator[Finding]]

MODEL: Final = "model"
"""As the rule: a model said so."""

LEAST_WEIGHT: Final = 20
"""Letters; a character of a script without letters counts as three."""
FEW_WORDS: Final = 12
"""So few say nothing that can be worked with, unless they name a place or a value."""
FEW_VAGUE_WORDS: Final = 30
"""So few say nothing either when they are vague."""

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SPECIFIC = re.compile(
    r"`[^`\n]+`|\b[\w-]{1,80}/[\w./-]+|\b\w+\.(?:py|js|ts|go|rs|java|rb|md|toml|json|ya?ml|html|css|c|h|cpp|sh|sql)\b"
    r"|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b|\b\w+\(\)|\bhttps?://\S+|[\"“«„][^\"”»“\n]{2,200}[\"”»“]"
    r"|\b\w+(?:Error|Exception)\b|^Traceback|--[a-z][\w-]+|\b\d+(?:[.,]\d+)?\s?(?:%|ms|s|px|[kKMG]i?B|€|\$)|\b[1-5]\d\d\b"
    r"|\b\d+\.\d+\b",
    re.MULTILINE,
)
_VAGUE = re.compile(
    r"\b(?:somehow|something|stuff|better|nicer|nice|improve\w*|optimi[sz]e\w*|modern\w*|clean(?:er)?|faster|etc"
    r"|and so on|user[- ]friendly|как-нибудь|как-то|что-то|лучше|получше|улучш\w*|оптимизир\w*|красив\w*|удобн\w*"
    r"|побыстрее|быстрее|и т\.? ?д|и так далее)\b",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"(?:\b(?:tbd|to be (?:defined|decided)|fixme)|\?{2,}|уточнить|\.\.\.|…)\s*\Z", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:how|why|what|where|when|is|are|can|does|do|should|как|почему|зачем|где|можно ли)\b.*\?\s*\Z"
)

_USERS = r"(?:users?|customers?|clients?|people|visitors?|who|they|пользовател\w*|клиент\w*)"
_CREDENTIAL = r"(?:credentials?|passwords?|api[- ]?keys?|access[- ]?(?:keys?|tokens?)|tokens?|secrets?|logins?)"
_PLACE = r"(?:prod(?:uction)?|live|real|staging|admin(?:istrator)?|root|company|aws|gcp|azure|stripe|customer)"
_NEEDS_SECRET: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"(?P<who>\w{{1,30}}\s{{1,3}})?\b(?:need|needs|requires?|ask \w+ for|request|obtain|use|using|take|get)\s+"
            rf"(?:(?:the|our|your|my|a|an|valid|some|their)\s+){{0,2}}{_PLACE}(?:['’]s)?\s+(?:\w+\s+){{0,2}}{_CREDENTIAL}\b"
        ),
        (
            r"(?P<who>\w{1,30}\s{1,3})?\byou(?:['’]ll|\s+will)?\s+(?:need|have)\s+to\s+"
            r"(?:ask|get|request|log ?in)\b[^.\n]{0,60}"
            rf"\b{_CREDENTIAL}\b"
        ),
        (
            rf"\b{_CREDENTIAL}\s+(?:is|are|can be found|lives?)\s+(?:in|on|at|with)\s+(?:the\s+|our\s+)?"
            r"(?:1password|vault|lastpass|bitwarden|keepass|wiki|slack|password manager)\b"
        ),
        rf"\bwith\s+(?:our|your|my)\s+{_PLACE}\s+(?:\w+\s+){{0,2}}{_CREDENTIAL}\b",
        r"\bssh\s+(?:in)?to\s+(?:the\s+|our\s+)?(?:prod|production|live|staging)\b",
        r"\b(?:log|sign)\s?in\s+(?:to|with|as)\s+(?:the\s+|our\s+|your\s+|my\s+)?(?:prod(?:uction)?|live|root|personal)\b",
        (
            r"\b(?:нужен|нужны|понадобится|понадобятся|потребуется|возьми\w*|запроси\w*|получи\w*)\s+(?:\w+\s+){0,2}"
            r"(?:доступ|парол\w*|токен\w*|ключ\w*|логин\w*|уч[её]тн\w* данн\w*)\s+(?:(?:от|к|для|из)\s+)?"
            r"(?:\w+\s+)?"
            r"(?:прод\w*|боев\w*|админ\w*|vault|реальн\w*)"
        ),
        r"\b(?:зайди\w*|подключи\w*|залогинь\w*)\s+(?:по ssh\s+)?(?:на|к|в)\s+(?:прод\w*|боев\w*)",
    )
)
_DENIED = re.compile(r"\b(?:no|not|never|without|don['’]t|doesn['’]t|не|без|нет)\b[\w\s'’]{0,20}\Z", re.IGNORECASE)


def too_short(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """There is hardly any text, in whatever language."""
    del scope
    text = _everything(spec)
    wide = len(_WIDE.findall(text))
    if sum(each.isalnum() for each in text) + 2 * wide < LEAST_WEIGHT:
        question = "What should be different afterwards, and where? A few sentences and one way to check it are enough."
        yield _missing("too_short", "what is wanted: there is hardly any text", question)


def question_only(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """It asks something instead of wanting something."""
    del scope
    if _is_question(spec):
        question = "This reads as a question. Which change would answer it, and how is it seen that it is there?"
        yield _missing("question_only", "what should be changed: it only asks a question", question)


def ambiguous(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """Nothing in it can be checked, and nothing in it names a place or a value."""
    del scope
    if _is_checkable(spec) or _is_question(spec):
        return
    text = _everything(spec)
    words = len(text.split()) + 2 * len(_WIDE.findall(text)) // 3
    is_specific = bool(_SPECIFIC.search(text) or spec.key_files or spec.reproduction)
    is_vague = _VAGUE.search(spec.title) or (words < FEW_VAGUE_WORDS and _VAGUE.search(text))
    if not is_specific and (words < FEW_WORDS or is_vague):
        question = (
            "How is it seen that this is done? Please add a section `## Acceptance` with one checkable line for each "
            "thing that should be true, and name the place: a file, a page, a command, a message."
        )
        yield _missing("ambiguous", "criteria: nothing in it can be checked, and no place is named", question)
    else:
        yield _assumed("no_criteria", "it is done when what it describes holds, and a test shows it")


def open_ended(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """A criterion that is still to be written."""
    del scope
    for each in spec.criteria:
        if not each.is_done and _OPEN_END.search(each.text):
            shown = each.text[:120]
            yield _missing("open_ended", f"the end of a criterion: {shown}", f"What comes instead of “{shown}”?")


def nothing_left(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """Every criterion is ticked."""
    del scope
    if spec.criteria and all(each.is_done for each in spec.criteria):
        question = "Every criterion is ticked. Which of them is not met, or can this be closed?"
        yield _missing("nothing_left", "what is left to do: every criterion is ticked", question)


def contradictory(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """It wants a thing and its opposite."""
    del scope
    for first, second in find_contradictions(spec):
        text = f"which of two holds: “{first}” or “{second}”"
        yield _missing("contradiction", text, f"These exclude each other: “{first}” and “{second}”. Which holds?")


def needs_secret(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """It cannot be done without a credential, which agents never get; a feature about passwords is another matter."""
    del scope
    for line in _everything(spec).splitlines():
        for pattern in _NEEDS_SECRET:
            found = pattern.search(line)
            if found is None or _is_denied(line, found) or _is_about_users(found):
                continue
            said = " ".join(found[0].split())
            question = (
                f"“{said}”: agents get no credentials. Can it be done and checked without, with a fake, a recorded "
                "answer or a test account in the repository? If not, a person has to do it."
            )
            yield _missing("needs_secret", f"how to do it without a credential: “{said}”", question)
            return


def out_of_scope(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """It is about files that may not be changed."""
    named = [path for path in spec.key_files if any(covers(each, path) for each in scope.forbidden)]
    beyond = outside([path for path in spec.key_files if path not in named], scope.allowed) if scope.allowed else ()
    for path in named:
        question = f"`{path}` may not be changed here (`forbidden_paths`). Can it be done elsewhere, or by a person?"
        yield _missing("out_of_scope", f"another place than `{path}`, which may not be changed", question)
    for path in beyond:
        question = f"`{path}` lies outside of what may be changed here (`allowed_paths`). Where else can it be done?"
        yield _missing("out_of_scope", f"another place than `{path}`, which may not be changed", question)
    near = [each for each in scope.forbidden for path in spec.key_files if path not in named and overlaps(each, path)]
    for each in dict.fromkeys(near):
        yield _assumed("near_forbidden", f"it can be done without touching `{each}`")


def silent(spec: IssueSpec, scope: Scope) -> Iterator[Finding]:
    """What it leaves open, and what is taken for granted then."""
    del scope
    if spec.task_type is TaskType.UNKNOWN:
        yield _assumed("unknown_type", "the smallest change is wanted: it is not said what kind of work it is")
    if spec.withheld:
        many = spec.withheld > 1
        what = f"{spec.withheld} comments" if many else "one comment"
        whose = "people" if many else "somebody"
        yield _assumed("withheld", f"{what} of {whose} without write access did not have to be read")


RULES: Final[tuple[Rule, ...]] = (
    too_short,
    question_only,
    ambiguous,
    open_ended,
    nothing_left,
    contradictory,
    needs_secret,
    out_of_scope,
    silent,
)


def _missing(rule: str, text: str, question: str) -> Finding:
    return Finding(rule, blocks=True, text=text, question=question)


def _assumed(rule: str, text: str) -> Finding:
    return Finding(rule, blocks=False, text=text)


def _everything(spec: IssueSpec) -> str:
    return "\n".join([spec.text, *(each.text for each in spec.comments)]).replace(HIDDEN, "")


def _is_checkable(spec: IssueSpec) -> bool:
    return bool(spec.criteria or spec.checklist or spec.test_steps or spec.manual_checks or spec.expected)


def _is_question(spec: IssueSpec) -> bool:
    asks = _QUESTION.match(spec.title.casefold()) is not None
    return asks and not _is_checkable(spec) and not spec.reproduction


def _is_denied(line: str, found: re.Match[str]) -> bool:
    before = found.end("who") if found.groupdict().get("who") else found.start()
    return _DENIED.search(line[:before]) is not None


def _is_about_users(found: re.Match[str]) -> bool:
    who = found.groupdict().get("who")
    return who is not None and re.fullmatch(_USERS, who.strip(), re.IGNORECASE) is not None
