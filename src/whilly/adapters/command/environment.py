"""What an agent process may see of the environment: an allow-list over a source mapping, nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PASSED = (
    # Who and where
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
    # Windows cannot start a process without some of these
    *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "USERNAME"),
    *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "NUMBER_OF_PROCESSORS"),
    # The way to the network
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    # Tools that projects are built with
    *("CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "GOFLAGS", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"),
)
"""Passed to every agent; `NAME*` is every name that begins so. No forge, tracker, cloud or ssh-agent variable."""


def pick_environment(source: Mapping[str, str], passed: Iterable[str]) -> dict[str, str]:
    """The variables of `source` whose names are listed."""
    fold = str.upper if os.name == "nt" else str
    names = [fold(name) for name in passed]
    exact = frozenset(names)
    prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
    return {
        name: value
        for name, value in source.items()
        if fold(name) in exact or (prefixes and fold(name).startswith(prefixes))
    }
