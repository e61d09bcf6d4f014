"""What speaks against a plan before it costs anything: contradictions, waste, wrong order, risks that nobody named."""

from __future__ import annotations
