"""The HTML in which Plane keeps texts."""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser
from typing import Final, final

from typing_extensions import override

from whilly.adapters.markdown import Block, Piece, read_blocks, read_pieces

_BLOCKS: Final = frozenset(
    {"p", "div", "ul", "ol", "pre", "blockquote", "table", "tr", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_SILENT: Final = frozenset({"script", "style", "head", "title", "template"})


def to_html(text: str) -> str:
    """A text in Markdown as HTML; everything in it that looks like HTML is shown as it is."""
    # Without white space between the blocks: Plane shows it as empty lines.
    return "".join(_write_block(block) for block in read_blocks(text))


def _write_block(block: Block) -> str:
    match block.kind:
        case "heading":
            return f"<h{block.detail}>{_write_line(block.lines[0])}</h{block.detail}>"
        case "code":
            return f"<pre><code>{escape(chr(10).join(block.lines))}</code></pre>"
        case "bullets" | "numbers":
            tag = "ul" if block.kind == "bullets" else "ol"
            return f"<{tag}>{''.join(f'<li><p>{_write_line(line)}</p></li>' for line in block.lines)}</{tag}>"
        case "paragraph":
            return f"<p>{'<br>'.join(_write_line(line) for line in block.lines)}</p>"


def _write_line(line: str) -> str:
    return "".join(_write_piece(piece) for piece in read_pieces(line))


def _write_piece(piece: Piece) -> str:
    match piece.style:
        case "code" | "strong":
            return f"<{piece.style}>{escape(piece.text)}</{piece.style}>"
        case "link":
            return f'<a href="{escape(piece.link)}">{escape(piece.text)}</a>'
        case _:
            return escape(piece.text)


def from_html(text: str) -> str:
    """HTML as Markdown; what has no counterpart gives the text inside of it."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.text


@final
class _Reader(HTMLParser):
    """Collects text while it reads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._lists: list[int] = []
        self._links: list[str] = []
        self._silent = 0
        self._in_item = self._in_code = False

    @property
    def text(self) -> str:
        """What was read, without empty lines at the ends, and with one between blocks."""
        lines = "".join(self._parts).split("\n")
        kept = [line for index, line in enumerate(lines) if line.strip() or (index and lines[index - 1].strip())]
        return "\n".join(kept).strip("\n")

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        if tag == "li":
            self._begin_item()
        elif tag == "p" and self._in_item:
            pass
        elif tag == "br":
            self._parts.append("\n")
        elif tag in _BLOCKS:
            self._begin_block(tag)
        else:
            self._begin_piece(tag, dict(attrs))

    def _begin_item(self) -> None:
        self._lists = self._lists or [0]
        number = self._lists[-1]
        self._lists[-1] += number > 0
        self._parts.append(f"\n{'  ' * (len(self._lists) - 1)}{f'{number}.' if number else '-'} ")
        self._in_item = True

    def _begin_block(self, tag: str) -> None:
        if tag in {"ul", "ol"}:
            self._lists.append(int(tag == "ol"))
            self._parts.append("" if self._in_item else "\n")
            return
        self._parts.append("\n\n")
        if tag == "pre":
            self._parts.append("```\n")
            self._in_code = True
        elif tag[0] == "h":
            self._parts.append(f"{'#' * int(tag[1])} ")

    def _begin_piece(self, tag: str, attrs: dict[str, str | None]) -> None:
        if tag in {"strong", "b"}:
            self._parts.append("**")
        elif tag == "code" and not self._in_code:
            self._parts.append("`")
        elif tag == "a":
            self._links.append(attrs.get("href") or "")
            self._parts.append("[")

    @override
    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0
        if tag in {"ul", "ol"}:
            self._lists = self._lists[:-1]
            self._in_item = bool(self._lists)
            self._parts.append("" if self._lists else "\n\n")
        elif tag == "pre":
            self._in_code = False
            self._parts.append("\n```\n\n")
        elif tag in _BLOCKS and not (tag == "p" and self._in_item):
            self._parts.append("\n\n")
        else:
            self._end_piece(tag)

    def _end_piece(self, tag: str) -> None:
        if tag in {"strong", "b"}:
            self._parts.append("**")
        elif tag == "code" and not self._in_code:
            self._parts.append("`")
        elif tag == "a" and self._links:
            self._parts.append(f"]({self._links.pop()})")

    @override
    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(data if self._in_code else data.replace("\n", " "))
