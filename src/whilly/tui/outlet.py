"""Standard output whose reader may go away: that must not end a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO, final

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
class Outlet:
    """Writes whole lines, at once, until nobody reads them any more; after that it does nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_open = True

    def write(self, lines: Iterable[str]) -> None:
        """Write the lines and push them out."""
        text = "".join(f"{line}\n" for line in lines)
        if not text or not self.is_open:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._close()

    def _close(self) -> None:
        """Point the stream at nothing, so that no later flush (Python makes one at exit) finds the broken pipe."""
        self.is_open = False
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        except (OSError, ValueError):
            return
