"""What is not taken on trust: changes of contained agents, and text that is about to leave."""

from __future__ import annotations
