"""What a tool call of Claude Code means to a person, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whilly.transport.jsonlines import cut_line, get_text

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "Bash": ("$", "command"),
    "Edit": ("edit", "file_path"),
    "MultiEdit": ("edit", "file_path"),
    "NotebookEdit": ("edit", "notebook_path"),
    "Write": ("write", "file_path"),
    "Read": ("read", "file_path"),
    "Glob": ("list", "pattern"),
    "Grep": ("search", "pattern"),
    "Task": ("delegate", "description"),
    "Agent": ("delegate", "description"),
    "WebFetch": ("fetch", "url"),
    "WebSearch": ("search the web:", "query"),
}
"""Tool → verb, and the key of its input that says what it is about."""


def describe_tool(block: Mapping[str, Any], cwd: str) -> str:
    """One line for a `tool_use` block; paths inside `cwd` are shown relative to it."""
    name = get_text(block, "name")
    verb, key = TOOLS.get(name, (name, ""))
    about = get_text(block.get("input"), key)
    if key.endswith("_path") and cwd:
        about = about.removeprefix(cwd.rstrip("/\\") + "/")
    return cut_line(f"{verb} {about}") or "tool"
