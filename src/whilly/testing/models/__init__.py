"""Models for tests: servers on loopback that say what a script says, so that real agent CLIs can run offline."""

from __future__ import annotations
