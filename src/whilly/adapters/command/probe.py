"""Asking a program for its version, with a time limit and without leaving anything behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from whilly.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

MAX_BYTES = 4096


async def ask_version(argv: Sequence[str], env: Mapping[str, str], limit: timedelta) -> str:
    """The first line that `argv` prints.

    Raises:
        Unavailable: it could not be started, did not end in time, or failed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        message = f"{argv[0]} cannot be started: {error}"
        raise Unavailable(message) from error
    try:
        async with asyncio.timeout(limit.total_seconds()):
            output, _ = await process.communicate()
    except TimeoutError as error:
        message = f"{' '.join(argv)} did not answer within {limit.total_seconds():g} s"
        raise Unavailable(message) from error
    finally:
        await _end(process)
    text = output[:MAX_BYTES].decode("utf-8", errors="replace").strip()
    first = text.splitlines()[0].strip() if text else ""
    if process.returncode != 0:
        message = f"{' '.join(argv)} failed with exit code {process.returncode}: {first}"
        raise Unavailable(message)
    return first


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()
