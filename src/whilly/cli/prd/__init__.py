"""`whilly prd`: from an idea to a product description and a plan."""

from __future__ import annotations
