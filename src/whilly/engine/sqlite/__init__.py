"""SQLite, by itself: nothing here needs SQLAlchemy, so asking about it is cheap."""

from __future__ import annotations
