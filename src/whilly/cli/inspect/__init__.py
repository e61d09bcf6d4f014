"""The commands that look at the ledger; none of them starts the engine or changes anything."""

from __future__ import annotations
