"""The stage `verify` of issues: what a change shows of itself, and what follows."""

from __future__ import annotations
