"""Looks at the ledger and its database without making or changing anything."""

from __future__ import annotations
