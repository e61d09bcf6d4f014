"""Use cases: what Whilly does, in terms of the domain and the ports."""

from __future__ import annotations
