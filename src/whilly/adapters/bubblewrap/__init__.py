"""Processes held by bubblewrap: namespaces, seccomp, limits, and a gateway as the only way out."""

from __future__ import annotations
