"""The process's environment: the only place that reads it. Everybody else is given what they need."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PASSED_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM", "SHELL")
"""What commands of the repository may see of the environment, beside what the settings add."""


def process_environment() -> dict[str, str]:
    """A copy of the environment of this process."""
    return dict(os.environ)  # noqa: TID251  (this is the one home of it)


def user_file() -> Path:
    """The user's own settings file; it need not exist."""
    import platformdirs  # noqa: PLC0415  (costs time that `--help` does not have)

    return platformdirs.user_config_path("whilly", appauthor=False) / "config.toml"


def find_root(directory: Path) -> Path | None:
    """The root of the git work tree that holds this directory; None outside of one."""
    # As text: neither a link that leads to itself nor a directory that cannot be entered is an error here.
    start = Path(os.path.realpath(directory))
    # In a linked work tree or a submodule `.git` is a file.
    return next((place for place in (start, *start.parents) if os.path.exists(place / ".git")), None)  # noqa: PTH110  (as above)


def pick(environ: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """The variables with these names; `NAME*` means all that begin so."""
    exact = {name for name in names if not name.endswith("*")}
    prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
    return {k: v for k, v in environ.items() if k in exact or (prefixes and k.startswith(prefixes))}
