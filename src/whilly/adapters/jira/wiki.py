"""Wiki markup, in which Jira Data Center keeps texts; and a mark in it that does not show."""

from __future__ import annotations

import re
from urllib.parse import unquote

from whilly.adapters.markdown import Block, Piece, read_blocks, read_pieces
from whilly.domain.forge.marker import encode_key

_MARK = re.compile(r"\s*\{anchor:whilly:(?P<key>[^\s{}]+)\}\s*\Z")
_SPECIAL = re.compile(r"([{}\[\]*_!|])")


def to_wiki(text: str, key: str = "") -> str:
    """A text in Markdown as wiki markup, with the key in an anchor at its end."""
    mark = f"\n\n{{anchor:whilly:{encode_key(key)}}}" if key else ""
    return "\n\n".join(_write_block(block) for block in read_blocks(text)) + mark


def read_wiki_mark(text: str) -> str:
    """The key in the mark at the end of the text; empty when there is none. Whoever wrote it may have forged it."""
    found = _MARK.search(text)
    return unquote(found["key"]) if found else ""


def strip_wiki_mark(text: str) -> str:
    """The text without its mark."""
    return _MARK.sub("", text)


def _write_block(block: Block) -> str:
    match block.kind:
        case "heading":
            return f"h{block.detail}. {_write_line(block.lines[0])}"
        case "code":
            code = "\n".join(block.lines)
            return f"{{code{':' + block.detail if block.detail else ''}}}\n{code}\n{{code}}"
        case "bullets" | "numbers":
            sign = "*" if block.kind == "bullets" else "#"
            return "\n".join(f"{sign} {_write_line(line)}" for line in block.lines)
        case "paragraph":
            return "\n".join(_write_line(line) for line in block.lines)


def _write_line(line: str) -> str:
    return "".join(_write_piece(piece) for piece in read_pieces(line))


def _write_piece(piece: Piece) -> str:
    match piece.style:
        case "code":
            return f"{{{{{_escape(piece.text)}}}}}"
        case "strong":
            return f"*{_escape(piece.text)}*"
        case "link":
            return f"[{piece.text.replace('|', '/').replace(']', ')')}|{piece.link}]"
        case _:
            return _escape(piece.text)


def _escape(text: str) -> str:
    """What would be markup there is shown as it is."""
    return _SPECIAL.sub(r"\\\1", text)
