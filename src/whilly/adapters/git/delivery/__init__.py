"""What git's commits and the user's work tree exchange."""

from __future__ import annotations
