"""The conformance kit: what a real agent CLI does when things go well, badly, or not at all, on a scripted model."""

from __future__ import annotations
