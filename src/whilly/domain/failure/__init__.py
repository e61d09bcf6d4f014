"""What a failed command's output says, and whether it says the same as last time."""

from __future__ import annotations

from whilly.domain.attempt import Evidence
from whilly.domain.failure.fingerprint import compute_fingerprint
from whilly.domain.failure.hints import read_hints
from whilly.domain.failure.output import clean_output, cut_to, find_section

__all__ = ["MAX_OUTPUT", "read_failure"]

MAX_OUTPUT = 8000
_MAX_SUMMARY = 300
_NOT_FOUND = 127


def read_failure(
    command: str,
    exit_code: int | None,
    output: str,
    *,
    root: str = "",
    setup: str = "",
    time_limit: float | None = None,
) -> Evidence:
    """The evidence of a command that failed.

    Args:
        command: as it was given to the shell.
        exit_code: None when it was ended.
        output: everything it printed, or the ends of it, escape codes and all.
        root: absolute path of the checkout; other paths in a traceback are not the project's.
        setup: the profile's set-up command: the only remedy that is ever proposed for a missing dependency.
        time_limit: seconds after which it was ended, if it was.
    """
    text = clean_output(output, root)
    section = find_section(text)
    reading = read_hints(section, text)
    if exit_code == _NOT_FOUND and not reading.headline:
        reading = reading.headed("a command was not found")
    return Evidence(
        summary=_summarize(command, exit_code, time_limit, reading.headline),
        command=command,
        exit_code=exit_code,
        output=cut_to(section, MAX_OUTPUT),
        hints=reading.hints,
        fingerprint=compute_fingerprint(command, exit_code, section, reading.failing),
        remedy=setup if reading.lacks_dependency else "",
    )


def _summarize(command: str, exit_code: int | None, time_limit: float | None, headline: str) -> str:
    words = " ".join(command.split())
    if len(words) > _MAX_SUMMARY // 2:
        words = words[: _MAX_SUMMARY // 2 - 1] + "…"
    how = f"failed with exit code {exit_code}"
    if time_limit is not None:
        how = f"did not end within {time_limit:g} s"
    elif exit_code is None:
        how = "was ended"
    summary = f"`{words}` {how}" + (f": {headline}" if headline else "")
    return summary if len(summary) <= _MAX_SUMMARY else summary[: _MAX_SUMMARY - 1] + "…"
