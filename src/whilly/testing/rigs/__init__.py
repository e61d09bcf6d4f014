"""Rigs: how each agent CLI is made to talk to a scripted model, and how that model uses its tools."""

from __future__ import annotations
