"""The rules: pure values and functions, no input or output."""

from __future__ import annotations
