"""Settings, their layers and secrets; the only reader of the environment."""

from __future__ import annotations
