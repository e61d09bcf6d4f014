"""From an issue to a pull request: the built-in stages of the pipeline `forge`."""

from __future__ import annotations
