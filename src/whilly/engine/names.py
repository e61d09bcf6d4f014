"""Names that are stored or seen from outside: compatibility data, pinned by a test."""

from __future__ import annotations

APPLICATION = "whilly"
APPLICATION_VERSION = "1"
"""Pinned, so that what an older Whilly left unfinished is found again; raised when stored positions change meaning."""

EXECUTOR = "solo"
"""The one worker of a repository."""

DRIVE_WORKFLOW = "drive_run"
RUNS_QUEUE = "runs"
