"""Commands of a repository, run by the shell."""

from __future__ import annotations
