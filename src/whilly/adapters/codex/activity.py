"""What an item of Codex means to a person, in one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whilly.transport.jsonlines import cut_line, get_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHELL = re.compile(r"""^\S*sh -l?c (['"]?)(.*)\1$""", re.DOTALL)
"""Codex shows a command with the shell that runs it: `/bin/bash -lc 'make test'`."""

VERBS = {"add": "write", "delete": "delete", "update": "edit"}
ABOUT = {"web_search": ("search the web:", "query"), "mcp_tool_call": ("call", "tool")}


def describe_item(item: Mapping[str, Any], cwd: str) -> list[str]:
    """Lines for an item that is work: a command, changed files, a search. Empty for words and thoughts."""
    kind = get_text(item, "type")
    if kind == "command_execution":
        command = get_text(item, "command")
        shell = _SHELL.match(command)
        return [cut_line(f"$ {shell.group(2) if shell else command}")]
    if kind == "file_change":
        changes = item.get("changes")
        listed = [each for each in changes if isinstance(each, dict)] if isinstance(changes, list) else []
        return [_describe_change(each, cwd) for each in listed]
    if kind in ABOUT:
        verb, key = ABOUT[kind]
        return [cut_line(f"{verb} {get_text(item, key)}")]
    return []


def _describe_change(change: Mapping[str, Any], cwd: str) -> str:
    path = get_text(change, "path")
    path = path.removeprefix(cwd.rstrip("/") + "/") if cwd else path
    return cut_line(f"{VERBS.get(get_text(change, 'kind'), 'change')} {path}")
