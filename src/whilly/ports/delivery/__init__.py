"""What a change needs on its way to a pull request."""

from __future__ import annotations
