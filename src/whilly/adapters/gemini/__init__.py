"""Gemini CLI: its descriptor (`agent.toml`) and the reader of its stream of JSON lines."""

from __future__ import annotations
