"""Agents that speak the Agent Client Protocol: what describes them (`agent.toml`), a bridge to Whilly's JSON lines."""

from __future__ import annotations
