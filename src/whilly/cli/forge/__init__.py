"""`whilly forge`: one issue in, one pull request out."""

from __future__ import annotations
