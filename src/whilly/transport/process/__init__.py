"""Processes that outlive Whilly: their supervisor, the files it leaves, and how to find and end what is left."""

from __future__ import annotations
