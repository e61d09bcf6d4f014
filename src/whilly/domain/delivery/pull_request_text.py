"""The title and the text of a pull request: what, why, validation, risks, assumptions, cost."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from whilly.domain.forge.place import Provider
from whilly.domain.text.clean import cut
from whilly.domain.text.neutralize import contain, neutralize, quote_block, quote_inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Caps:
    """How much a forge takes, in characters."""

    title: int
    body: int


CAPS: Final[Mapping[Provider, Caps]] = {
    Provider.GITHUB: Caps(256, 65_536),
    Provider.GITEA: Caps(255, 65_536),
    Provider.GITLAB: Caps(255, 1_048_576),
}
"""GitHub's are its own error messages'; GitLab's its documented limits; Gitea's title is a database column."""

SHORT_TITLE: Final = 100
"""Characters that lists show."""
_RESERVED: Final = 400
"""Characters that adapters may need for marks of their own."""
_OUTPUT: Final = (4_000, 60)
_STATE_WORDS = re.compile(r"^(?:\s*(?:\[?(?:draft|wip)\]?\s*[:\]-]|\((?:draft|wip)\))\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """A command and how it ended, as Whilly ran it.

    Attributes:
        has_passed: None when it was not run, because an earlier one had failed.
        output: the useful part of what it printed; shown when it failed.
    """

    command: str
    has_passed: bool | None
    output: str = ""
    where: str = "on a clean checkout of this commit"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the change comes from.

    Attributes:
        closing: how the forge of the pull request refers to the issue so that merging closes it: `#12`,
            `owner/repo#12`; empty where it cannot, because the issue lives elsewhere.
        name: as people write it: `owner/repo#12`, `ABC-12`.
        url: where people see it.
    """

    name: str
    title: str
    url: str = ""
    closing: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that a pull request tells. Text may come from anybody: it is made harmless here.

    Attributes:
        what: what was changed, in prose.
        why: the problem that it solves.
        proofs: what the change shows of itself, in sentences.
        cost_usd: None when nobody knows.
        draft_because: reasons for a draft; empty for one that is offered as finished.
        is_partial: it does a part of what was wanted, so that merging closes nothing.
    """

    source: Source
    what: str
    why: str
    checks: tuple[Checked, ...] = ()
    proofs: tuple[str, ...] = ()
    criteria: tuple[tuple[str, bool], ...] = ()
    risks: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    strategy: str = ""
    run: str = ""
    sessions: int = 0
    cost_usd: Decimal | None = None
    draft_because: tuple[str, ...] = ()
    is_partial: bool = False


def compose_title(source: Source, limit: int = CAPS[Provider.GITHUB].title) -> str:
    """`Totals are wrong (#12)`; for an issue that lives elsewhere `ABC-12: Totals are wrong`: trackers link it so.

    Words that make a draft of a pull request are left out: whether it is one is no matter of the issue's title.
    """
    words = " ".join(neutralize(_STATE_WORDS.sub("", source.title)).split())
    room = min(limit, SHORT_TITLE) - len(source.closing or source.name) - 3
    short = words if len(words) <= room else f"{words[: room - 1].rstrip()}…"
    if source.closing:
        return f"{short or 'Issue'} ({source.closing})"
    return f"{source.name}: {short}" if short else source.name


def compose_body(story: Story, limit: int = CAPS[Provider.GITHUB].body) -> str:
    """The text of the pull request, within `limit`.

    When it is too long, the outputs of commands go first, then prose is cut; what it closes, the results and the footer
    always stay.
    """
    room = limit - _RESERVED
    whole = _render(story)
    if len(whole) <= room:
        return whole
    bare = replace(story, checks=tuple(replace(each, output="") for each in story.checks))
    for share in (room // 3, room // 6, room // 12, 200):
        told = _render(_shorten(bare, share))
        if len(told) <= room:
            return told
    return cut(_render(_shorten(bare, 200)), room - 100, room)


def _shorten(story: Story, share: int) -> Story:
    """The story with no text longer than `share`, and no list longer than fits into it."""
    count = max(5, share // 200)
    return replace(
        story,
        what=cut(story.what, share, share),
        why=cut(story.why, share, share),
        checks=story.checks[: count * 2],
        criteria=story.criteria[:count],
        proofs=tuple(each[:300] for each in story.proofs[:count]),
        risks=tuple(each[:300] for each in story.risks[:count]),
        assumptions=tuple(each[:300] for each in story.assumptions[:count]),
    )


def _render(story: Story) -> str:
    parts = [_refer(story), *_warn(story), _section("What", contain(story.what) or "_Not told._")]
    parts.append(_section("Why", "\n\n".join([contain(story.why), *_list_criteria(story)]).strip()))
    parts.append(_section("Validation", "\n\n".join([_tell_checks(story.checks), *_list_proofs(story)])))
    parts.append(_section("Risks", _bullets(story.risks, "None that are known.")))
    parts.append(_section("Assumptions", _bullets(story.assumptions, "None.")))
    parts += [_section("Cost", _tell_cost(story)), _footer(story)]
    return "\n\n".join(part for part in parts if part)


def _refer(story: Story) -> str:
    source = story.source
    if source.closing:
        return f"{'Part of' if story.is_partial else 'Closes'} {source.closing}"
    return f"For [{source.name}]({source.url})" if source.url else f"For {source.name}"


def _warn(story: Story) -> list[str]:
    if not story.draft_because:
        return []
    reasons = [f"> - {neutralize(' '.join(each.split()))}" for each in story.draft_because]
    return ["\n".join(["> **A draft**, because:", *reasons])]


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _list_criteria(story: Story) -> list[str]:
    lines = [f"- [{'x' if met else ' '}] {neutralize(' '.join(text.split()))}" for text, met in story.criteria]
    return ["\n".join(lines)] if lines else []


_RESULTS: Final = {True: "passed", False: "**failed**", None: "not run"}


def _tell_checks(checks: tuple[Checked, ...]) -> str:
    if not checks:
        return "Nothing was run."
    lines = ["| command | result | where |", "|---|---|---|"]
    for each in checks:
        command = quote_inline(each.command[:200]).replace("|", "\\|")
        where = neutralize(each.where) if each.has_passed is not None else "an earlier one had failed"
        lines.append(f"| {command} | {_RESULTS[each.has_passed]} | {where} |")
    shown = [each for each in checks if each.output and each.has_passed is False]
    for each in shown[:3]:
        lines += ["", f"{quote_inline(each.command[:200])} said:", "", quote_block(cut(each.output, *_OUTPUT), "text")]
    return "\n".join(lines)


def _list_proofs(story: Story) -> list[str]:
    return [_bullets(story.proofs, "")] if story.proofs else []


def _bullets(lines: Iterable[str], nothing: str) -> str:
    return "\n".join(f"- {neutralize(' '.join(each.split()))}" for each in lines) or nothing


def _tell_cost(story: Story) -> str:
    cost = "not known" if story.cost_usd is None else f"${story.cost_usd:.2f}"
    many = (
        f", {story.sessions} {'session' if story.sessions == 1 else 'sessions'} with agents" if story.sessions else ""
    )
    return f"{cost}{many}"


def _footer(story: Story) -> str:
    facts = [f"run `{story.run}`" if story.run else "", f"strategy `{story.strategy}`" if story.strategy else ""]
    told = ", ".join(fact for fact in facts if fact)
    return f"---\nMade by an agent and checked by Whilly{f' ({told})' if told else ''}. A person reviews and merges it."
