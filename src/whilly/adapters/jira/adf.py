"""Atlassian's document format, in which Jira Cloud keeps texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whilly.adapters.markdown import Block, read_blocks, read_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

Node = dict[str, Any]
DEEPEST = 40
"""Levels of nesting; whoever nests deeper does it to break something."""


def to_adf(text: str) -> Node:
    """A text in Markdown as a document; Jira accepts no empty text nodes, so an empty text is an empty document."""
    return {"type": "doc", "version": 1, "content": [_write_block(block) for block in read_blocks(text)]}


def _write_block(block: Block) -> Node:
    match block.kind:
        case "heading":
            content = _write_line(block.lines[0])
            return {"type": "heading", "attrs": {"level": int(block.detail)}, "content": content}
        case "code":
            code = "\n".join(block.lines)
            node: Node = {"type": "codeBlock", "content": [{"type": "text", "text": code}] if code else []}
            return {**node, "attrs": {"language": block.detail}} if block.detail else node
        case "bullets" | "numbers":
            items = [
                {"type": "listItem", "content": [{"type": "paragraph", "content": _write_line(line)}]}
                for line in block.lines
            ]
            return {"type": "bulletList" if block.kind == "bullets" else "orderedList", "content": items}
        case "paragraph":
            content = []
            for number, line in enumerate(block.lines):
                content += [*([{"type": "hardBreak"}] if number else []), *_write_line(line)]
            return {"type": "paragraph", "content": content}


def _write_line(line: str) -> list[Node]:
    found: list[Node] = []
    for piece in read_pieces(line):
        node: Node = {"type": "text", "text": piece.text}
        if piece.style:
            mark: Node = {"type": piece.style}
            node["marks"] = [{**mark, "attrs": {"href": piece.link}} if piece.style == "link" else mark]
        found.append(node)
    return found


def from_adf(document: object) -> str:
    """A document as Markdown; a text as it is; nodes that are not known give the text inside of them."""
    if isinstance(document, str):
        return document
    return _read_blocks(document, 0).strip("\n") if isinstance(document, dict) else ""


def _children(node: Mapping[str, Any]) -> list[Node]:
    content = node.get("content")
    return [child for child in content if isinstance(child, dict)] if isinstance(content, list) else []


def _read_blocks(node: Mapping[str, Any], depth: int) -> str:
    if depth > DEEPEST:
        return ""
    return "\n\n".join(filter(None, (_read_block(child, depth + 1) for child in _children(node))))


def _read_block(node: Node, depth: int) -> str:  # noqa: C901, PLR0911  (one return per case)
    attributes = node.get("attrs") if isinstance(node.get("attrs"), dict) else {}
    match node.get("type"):
        case "paragraph":
            return _read_line(node)
        case "heading":
            return f"{'#' * int((attributes or {}).get('level') or 1)} {_read_line(node)}"
        case "codeBlock":
            return f"```{(attributes or {}).get('language') or ''}\n{_read_line(node)}\n```"
        case "bulletList" | "taskList":
            return "\n".join(f"- {_read_item(item, depth)}" for item in _children(node))
        case "orderedList":
            return "\n".join(f"{number}. {_read_item(item, depth)}" for number, item in enumerate(_children(node), 1))
        case "blockquote":
            return "\n".join(f"> {line}" for line in _read_blocks(node, depth).split("\n"))
        case "rule":
            return "---"
        case "tableRow":
            cells = (_read_blocks(cell, depth).replace("\n", " ") for cell in _children(node))
            return f"| {' | '.join(cells)} |"
        case _:
            return _read_line(node) if node.get("type") in _INLINE else _read_blocks(node, depth)


def _read_item(item: Node, depth: int) -> str:
    if item.get("type") == "taskItem":
        done = isinstance(item.get("attrs"), dict) and item["attrs"].get("state") == "DONE"
        return f"[{'x' if done else ' '}] {_read_line(item)}"
    return _read_blocks(item, depth).replace("\n\n", "\n").replace("\n", "\n  ")


_INLINE = frozenset({"text", "mention", "emoji", "inlineCard", "hardBreak", "date", "status"})


def _read_line(node: Node) -> str:
    if node.get("type") in _INLINE:
        return _read_piece(node)
    return "".join(_read_piece(child) for child in _children(node))


def _read_piece(node: Node) -> str:
    attributes = node.get("attrs") if isinstance(node.get("attrs"), dict) else {}
    match node.get("type"):
        case "text":
            return _read_marks(str(node.get("text") or ""), node.get("marks"))
        case "hardBreak":
            return "\n"
        case "inlineCard":
            return str((attributes or {}).get("url") or "")
        case _:
            return str((attributes or {}).get("text") or (attributes or {}).get("shortName") or "")


def _read_marks(text: str, marks: object) -> str:
    for mark in marks if isinstance(marks, list) else []:
        match mark.get("type") if isinstance(mark, dict) else None:
            case "code":
                text = f"`{text}`"
            case "strong":
                text = f"**{text}**"
            case "link":
                attributes = mark.get("attrs")
                href = attributes.get("href") if isinstance(attributes, dict) else ""
                text = f"[{text}]({href})" if href and href != text else text
            case _:
                pass
    return text
