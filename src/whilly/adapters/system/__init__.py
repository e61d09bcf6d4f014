"""What the operating system offers to every program."""

from __future__ import annotations
