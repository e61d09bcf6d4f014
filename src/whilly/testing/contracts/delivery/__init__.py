"""The contracts of the ports of delivery."""

from __future__ import annotations
