"""The login of GitHub's own program, `gh`."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 10.0
"""A keyring that waits for a person is not waited for."""

_TOKENS = frozenset({"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"})


def read_gh_token(host: str, environment: Mapping[str, str]) -> str:
    """The token with which `gh` is logged in to a host; empty when it is not, or not there.

    Args:
        host: `github.com`.
        environment: of this process. The tokens in it are left out: `gh` would only repeat them.
    """
    program = shutil.which("gh", path=environment.get("PATH", ""))
    if program is None:
        return ""
    env = {name: value for name, value in environment.items() if name not in _TOKENS}
    env |= {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
    try:
        done = subprocess.run(  # noqa: S603  (a fixed command and a host's name from the settings)
            [program, "auth", "token", "--hostname", host],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
