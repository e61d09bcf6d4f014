"""From an idea to a product description: the built-in stages of the pipeline `prd`."""

from __future__ import annotations
