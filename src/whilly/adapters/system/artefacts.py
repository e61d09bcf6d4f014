"""FileArtefacts: `<folder>/<run>/<name>.json`, which people and scripts may read."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.domain.errors import Unavailable
from whilly.ports.delivery.artefacts import Artefacts
from whilly.transport.files import Unreadable, read_file, write_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.domain.ids import RunId

MAX_BYTES = 16 << 20


@final
class FileArtefacts(Artefacts):
    """Files that stay when the run has ended.

    Args:
        folder: holds one folder for each run; made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @override
    async def save(self, run: RunId, name: str, document: Mapping[str, object]) -> str:
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        path = self._place(run, name)
        try:
            await asyncio.to_thread(_write, path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror}"
            raise Unavailable(message) from error
        return str(path)

    @override
    async def load(self, run: RunId, name: str) -> Mapping[str, object] | None:
        return await asyncio.to_thread(_read, self._place(run, name))

    def _place(self, run: RunId, name: str) -> Path:
        return self._folder / run / f"{name}.json"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, data)


def _read(path: Path) -> Mapping[str, object] | None:
    try:
        data = read_file(path, MAX_BYTES)
        document = json.loads(data) if data is not None else None
    except (Unreadable, OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
