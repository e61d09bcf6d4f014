"""The pull request of an issue: opened, looked after, and put on top of a base that has moved."""

from __future__ import annotations
