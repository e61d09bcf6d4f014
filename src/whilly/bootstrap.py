"""The composition root: which adapter stands for which port."""

from __future__ import annotations
