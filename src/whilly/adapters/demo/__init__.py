"""The demo agent: a real process that makes real changes, without a model and without cost."""

from __future__ import annotations
