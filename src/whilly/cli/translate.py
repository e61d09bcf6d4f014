"""The predecessor's command lines, said in today's words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from whilly.config.spellings import AGENTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_WITH_VALUE = frozenset({"-C"})
_HAS_WORKSPACES = "every task has a workspace of its own, and your checkout is never touched"
DROPPED: Mapping[str, str] = {
    "--workspace": "",
    "--worktree": "",
    "--no-workspace": f"--no-workspace has no effect: {_HAS_WORKSPACES}",
    "--no-worktree": f"--no-worktree has no effect: {_HAS_WORKSPACES}",
    "--no-gh": "--no-gh has no effect: `whilly doctor` does not ask GitHub",
}
"""Flags of the predecessor that are accepted and dropped → what to say about it."""
_RUN_FLAGS = frozenset({"--all", "--resume", "--headless", "--timeout", "--agent", *DROPPED})
COMMAND_FLAGS: Mapping[str, str] = {
    "--doctor": "doctor",
    "--config": "config",
    "--reset": "reset",
    "--handoff-list": "handoff list",
    "--handoff-show": "handoff show",
    "--handoff-complete": "handoff complete",
    "--triz": "plan triz",
    "--init": "prd",
    "--prd-wizard": "prd --wizard",
    "--plan": "prd --from",
    "--from-issue": "import github",
    "--from-jira": "import jira",
    "--from-github": "import github",
}
"""Flags of the predecessor that are commands now."""

_FROM_TRACKER = (
    "`whilly import` makes a plan file of a repository's or project's issues, by label, text or JQL; "
    "`whilly run PLAN` starts it."
)
_IMPORTERS = frozenset({"--from-issue", "--from-jira", "--from-github"})
_ANY_LABEL = frozenset({"all", "*", "-"})
_LABELS = "workshop,whilly:ready"
"""What the predecessor imported when no label was named."""
_BOARDS = "Boards and tickets come in a later version; `whilly status` and `whilly report` show where tasks stand."
_ALWAYS = "Every task is verified before it is integrated; `[profile]` in whilly.toml says how."
GONE: Mapping[str, str] = {
    "--from-issues-project": _FROM_TRACKER,
    "--from-project": _FROM_TRACKER,
    "--source": _FROM_TRACKER,
    "--source-out": _FROM_TRACKER,
    "--tasks-from": "Name the plan: `whilly run PLAN`.",
    "--tasks": "Name the plan: `whilly run PLAN`.",
    "--post-merge": _BOARDS,
    "--ensure-board-statuses": _BOARDS,
    "--workflow-analyze": _BOARDS,
    "--classify": _BOARDS,
    "--rebuild-hierarchy": _BOARDS,
    "--project-sync-status": _BOARDS,
    "--sync-status": _BOARDS,
    "--sync-todo": _BOARDS,
    "--watch-project": _BOARDS,
    "--pr-on-done": "`whilly forge tasks.json#TASK-1` makes a pull request of a task.",
    "--draft": "It belongs to `whilly forge REF --draft`.",
    "--decision-gate": "`whilly forge` asks about issues that are not ready.",
    "--decision-gate-comment": "`whilly forge` asks about issues that are not ready, in one comment.",
    "--check": _ALWAYS,
}
"""Flags of the predecessor that are refused → what to do instead."""


@dataclass(frozen=True, slots=True)
class Translated:
    """What to do.

    Attributes:
        argv: the arguments, in today's words.
        notes: what the person should know about the translation.
    """

    argv: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """What used to be possible and is not."""

    message: str
    remedy: str


def translate(argv: Sequence[str], commands: Collection[str]) -> Translated | Refused:
    """The arguments in today's words; those that already are come back as they were.

    Args:
        argv: the arguments after the program's name.
        commands: the names of today's commands.
    """
    start = _skip_global(argv)
    before, rest = tuple(argv[:start]), tuple(argv[start:])
    if not rest or rest[0] in commands:
        return Translated(tuple(argv))
    gone = next((part for part in _options(rest) if part in GONE), None)
    if gone is not None and (rest[0].partition("=")[0] == gone or _is_old(rest)):
        return Refused(f"{gone} was a flag of the predecessor and is not one of this version", GONE[gone])
    if not _is_old(rest):
        return Translated(tuple(argv))
    notes = tuple(note for flag, note in DROPPED.items() if flag in rest and note)
    kept = tuple(_rename_agents([part for each in rest for part in _part(each) if part not in DROPPED]))
    return _name_command(before, kept, notes)


def _name_command(before: tuple[str, ...], kept: tuple[str, ...], notes: tuple[str, ...]) -> Translated | Refused:
    flag = next((part for part in kept if part in COMMAND_FLAGS), None)
    if flag is None:
        return Translated((*before, "run", *kept), notes)
    others = tuple(part for part in kept if part != flag)
    if flag in _IMPORTERS and {"--go", "--yes"} & set(others):
        return Refused(
            f"{flag} with --go was a flag of the predecessor, and is two commands today",
            "`whilly import …`, then `whilly run PLAN`",
        )
    words = _import(flag, others) if flag in _IMPORTERS else _complete(flag, others)
    return Translated((*before, *COMMAND_FLAGS[flag].split(), *words), notes)


def _rename_agents(parts: Sequence[str]) -> Iterator[str]:
    """The same, with agents called as they are today."""
    for before, part in pairwise(("", *parts)):
        flag, _, name = part.partition("=")
        if before == "--agent":
            yield AGENTS.get(part, part)
        else:
            yield f"{flag}={AGENTS.get(name, name)}" if flag == "--agent" and name else part


def _skip_global(argv: Sequence[str]) -> int:
    index = 0
    while index < len(argv) and argv[index] in {*_WITH_VALUE, "--debug"}:
        index += 2 if argv[index] in _WITH_VALUE else 1
    return min(index, len(argv))


def _options(rest: Sequence[str]) -> list[str]:
    return [part.partition("=")[0] for part in rest if part.startswith("--")]


def _is_old(rest: Sequence[str]) -> bool:
    looks_like_a_plan = not rest[0].startswith("-") and (rest[0].endswith(".json") or "/" in rest[0] or "\\" in rest[0])
    return looks_like_a_plan or any(part in _RUN_FLAGS or part in COMMAND_FLAGS for part in _options(rest[:1]))


def _part(word: str) -> list[str]:
    """`--from-issue=REF` as two words."""
    flag, _, value = word.partition("=")
    return [flag, value] if flag in _IMPORTERS and value else [word]


def _import(flag: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """The same issues into the file that the predecessor wrote."""
    others = tuple(each for each in others if each != "--headless")
    named = others[:1] if others and (others[0] in _ANY_LABEL or not others[0].startswith("-")) else ()
    rest = others[len(named) :]
    if flag == "--from-github":
        wanted = (named or (_LABELS,))[0]
        labels = [] if wanted in _ANY_LABEL else [each.strip() for each in wanted.split(",") if each.strip()]
        plan = "tasks-from-github.json"
        return (*(word for label in labels for word in ("--label", label)), "--plan", plan, *rest)
    if not named:
        return others
    name = re.sub(r"\W+", "-", re.sub(r"^https?://[^/]+/|/issues(?=/)|browse/", "", named[0])).strip("-")
    kind = "jira" if flag == "--from-jira" else "issue"
    return (*named, "--plan", f"tasks-{kind}-{name.upper() if kind == 'jira' else name}.json", *rest)


def _complete(flag: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """What the flag alone used to mean."""
    if flag == "--config" and (not others or others[0].startswith("-")):
        return ("show", *others)
    if flag == "--triz":
        return tuple(each for each in others if each != "--headless")
    if flag == "--init":
        return tuple("--run" if each == "--go" else each for each in others)
    if flag == "--plan":
        return tuple(_name_documents(others))
    # The predecessor did not ask, but it wanted names.
    return ("--yes", *others) if flag == "--reset" and others else others


def _name_documents(words: Sequence[str]) -> Iterator[str]:
    """Every word that is no flag was the path of a product description; the first one follows `--from` itself."""
    paths = [word for word in words if not word.startswith("-")]
    for number, path in enumerate(paths):
        yield from ("--from", path) if number else (path,)
    yield from ("--run" if word == "--go" else word for word in words if word.startswith("-"))
