"""OpenCode: its descriptor (`agent.toml`) and the reader of its JSON lines."""

from __future__ import annotations
