"""What is going to be done about an issue, and by which parts."""

from __future__ import annotations
