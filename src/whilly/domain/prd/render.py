"""A product description as Markdown; `parse_prd` reads it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whilly.domain.prd.document import Phase, Prd, Requirement


def render_prd(prd: Prd) -> str:
    """The document, every section in its place; an empty one says that it is."""
    parts = [f"# {_line(prd.title)}", *_section("Context", prd.context)]
    parts += _section("Users", _bullets(prd.users))
    parts += _section("User stories", _bullets(prd.stories))
    parts += ["## Requirements"] + [_render_requirement(each) for each in prd.requirements]
    parts += _section("Non-goals", _bullets(prd.non_goals))
    parts += _section("Architecture", prd.architecture)
    phases = (
        f"{each.number}. {_line(each.goal)}{f' ({_line(each.effort)})' if each.effort else ''}" for each in prd.phases
    )
    parts += _section("Phases", "\n".join(phases))
    parts += _section("Metrics", _bullets(prd.metrics))
    risks = (f"{_line(each.risk)} → {_line(each.mitigation)}".rstrip() for each in prd.risks)
    parts += _section("Risks", _bullets(risks))
    return "\n\n".join(parts) + "\n"


def _section(title: str, text: str) -> Iterator[str]:
    yield f"## {title}"
    yield text.strip() or "None."


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_line(each)}" for each in lines)


def _render_requirement(each: Requirement) -> str:
    lines = [f"### {each.id}: {_line(each.title)}", ""]
    lines += [each.text.strip(), ""] if each.text.strip() else []
    lines += [f"**Phase:** {each.phase}", f"**Priority:** {each.priority}"]
    lines += [f"**Files:** {', '.join(f'`{path}`' for path in each.key_files)}"] if each.key_files else []
    lines += [f"**Depends:** {', '.join(each.depends)}"] if each.depends else []
    lines += ["", *(f"- [ ] {_line(criterion)}" for criterion in each.criteria)]
    lines += ["", "```sh", *map(_line, each.test_steps), "```"] if each.test_steps else []
    return "\n".join(lines).strip()


def _render_phase(each: Phase) -> str:
    effort = f" ({_line(each.effort)})" if each.effort else ""
    return f"{each.number}. {_line(each.goal)}{effort}"


def _line(text: str) -> str:
    return " ".join(text.split())
