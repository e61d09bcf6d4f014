"""Prompts from templates."""

from __future__ import annotations
