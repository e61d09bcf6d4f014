"""Wire tools shared by adapters: processes, JSON lines."""

from __future__ import annotations
