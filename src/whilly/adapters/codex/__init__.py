"""Codex CLI: its descriptor (`agent.toml`) and the reader of `codex exec --json`."""

from __future__ import annotations
