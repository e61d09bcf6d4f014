"""Commands about plan files: nothing is started, nothing is written."""

from __future__ import annotations
