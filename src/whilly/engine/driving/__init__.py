"""Carrying out what is due for runs."""

from __future__ import annotations
