"""The outside world, one package per provider."""

from __future__ import annotations
