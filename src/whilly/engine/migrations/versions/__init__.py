"""The ledger's schema, step by step."""

from __future__ import annotations
