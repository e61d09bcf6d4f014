"""Issues, pull requests, and how people refer to them."""

from __future__ import annotations
