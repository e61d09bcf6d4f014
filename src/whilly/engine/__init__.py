"""The ledger and the durable execution of effects."""

from __future__ import annotations
