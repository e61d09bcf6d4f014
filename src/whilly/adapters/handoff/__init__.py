"""Work that is handed to people, as files."""

from __future__ import annotations
