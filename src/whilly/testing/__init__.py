"""The shipped test kit: contract suites and scripted model servers for adapters of your own."""

from __future__ import annotations
