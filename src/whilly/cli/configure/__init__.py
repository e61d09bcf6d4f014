"""The commands that set Whilly up."""

from __future__ import annotations
