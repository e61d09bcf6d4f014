"""Whilly: a self-hosted control plane for coding agents."""

from __future__ import annotations
