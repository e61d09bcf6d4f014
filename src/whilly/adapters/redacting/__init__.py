"""Ports whose answers have no secrets in them."""

from __future__ import annotations
