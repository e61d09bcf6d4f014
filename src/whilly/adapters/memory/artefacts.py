"""MemoryArtefacts: documents in a dictionary, as JSON text, so that nobody shares an object with anybody."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.ports.delivery.artefacts import Artefacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.domain.ids import RunId


@final
class MemoryArtefacts(Artefacts):
    """Holds what was saved."""

    def __init__(self) -> None:
        self._texts: dict[tuple[RunId, str], str] = {}

    @override
    async def save(self, run: RunId, name: str, document: Mapping[str, object]) -> str:
        self._texts[run, name] = json.dumps(document)
        return f"{run}/{name}.json"

    @override
    async def load(self, run: RunId, name: str) -> Mapping[str, object] | None:
        text = self._texts.get((run, name))
        found: dict[str, object] | None = json.loads(text) if text is not None else None
        return found
