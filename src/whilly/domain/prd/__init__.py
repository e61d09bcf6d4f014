"""A product description: what is to be built, for whom, and how it is seen that it is there."""

from __future__ import annotations
