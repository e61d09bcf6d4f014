"""What a failed command's output says."""

from __future__ import annotations

from whilly.domain.attempt import Evidence

_MAX_OUTPUT = 8000


def read_failure(
    command: str,
    exit_code: int | None,
    output: str,
    *,
    root: str = "",
    setup: str = "",
    time_limit: float | None = None,
) -> Evidence:
    """The evidence of a command that failed."""
    summary = f"`{command}` failed with exit code {exit_code}"
    if exit_code == 127:  # noqa: PLR2004  (the shell's own code for it)
        summary = f"`{command}`: a command was not found"
    if time_limit is not None:
        summary = f"`{command}` did not end within {time_limit:.0f} s"
    return Evidence(
        summary,
        command,
        exit_code,
        output[-_MAX_OUTPUT:],
        fingerprint=f"{exit_code}:{command}",
        remedy=setup and root and "",
    )
