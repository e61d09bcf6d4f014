"""Trees in memory."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.memory.history import list_changed
from whilly.domain.change import Extent
from whilly.ports.delivery.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Collection

    from whilly.adapters.memory.history import MemoryHistory
    from whilly.domain.ids import CommitId


@final
class MemoryTrees(Trees):
    """Trees of a history in memory."""

    def __init__(self, history: MemoryHistory) -> None:
        self._history = history

    @override
    async def measure(self, old: CommitId, new: CommitId) -> tuple[Extent, ...]:
        before, after = self._history.require_commit(old).files, self._history.require_commit(new).files
        return tuple(_measure(path, before.get(path), after.get(path)) for path in list_changed(before, after))

    @override
    async def overlay(self, commit: CommitId, source: CommitId, paths: Collection[str]) -> CommitId:
        under, over = self._history.require_commit(commit).files, self._history.require_commit(source).files
        files = {path: text for path, text in under.items() if path not in paths}
        files |= {path: text for path, text in over.items() if path in paths}
        return self._history.make_commit(files, (commit,), f"files of {source}")


def _measure(path: str, before: str | None, after: str | None) -> Extent:
    old, new = (before or "").splitlines(), (after or "").splitlines()
    kept = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    return Extent(path, len(new) - kept, len(old) - kept, before is not None, after is not None)
