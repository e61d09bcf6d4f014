"""The process's environment: the only place that reads it. Everybody else is given what they need."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from pathlib import Path


def process_environment() -> dict[str, str]:
    """A copy of the environment of this process."""
    return dict(os.environ)  # noqa: TID251  (this is the one home of it)


def user_file() -> Path:
    """The user's own settings file; it need not exist."""
    return platformdirs.user_config_path("whilly", appauthor=False) / "config.toml"
