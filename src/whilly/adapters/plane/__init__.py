"""Plane."""

from __future__ import annotations
