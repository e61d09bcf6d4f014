"""What a person sees in a terminal."""

from __future__ import annotations
