"""Looks for what is wrong with the machine, the repository and Whilly's own state, and mends what is safe to mend."""

from __future__ import annotations
