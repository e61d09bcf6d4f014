"""Waiting for a descriptor, in whichever thread the event loop runs."""

from __future__ import annotations

import asyncio


async def wait_readable(descriptor: int, seconds: float) -> bool:
    """Whether the descriptor became readable (or came to its end) within `seconds`."""
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    loop.add_reader(descriptor, is_readable.set)
    try:
        async with asyncio.timeout(seconds):
            await is_readable.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
    return True
