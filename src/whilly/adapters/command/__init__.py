"""Agent CLIs described by data: a command line from templates, and one of a few dialects on standard output."""

from __future__ import annotations
