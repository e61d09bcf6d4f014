"""The policy for changes, on what git's objects say."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from typing_extensions import override

from whilly.adapters.git.comparison import list_changed
from whilly.adapters.git.contained.contents import list_entries, measure, read
from whilly.domain.claims import Refused, normalize
from whilly.domain.trust.policy import VERDICTS, Alteration, judge_change
from whilly.domain.trust.weakening import runs_tests
from whilly.ports.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from whilly.adapters.git.command import Git
    from whilly.domain.ids import CommitId
    from whilly.domain.trust.policy import Objection


@final
class GitPolicy(Policy):
    """Reads the change out of the user's repository.

    Args:
        accepted: paths, directories or globs that a person has agreed to.
        verdicts: names or globs of files that only Whilly writes.
    """

    def __init__(self, git: Git, root: Path, accepted: Sequence[str] = (), verdicts: Sequence[str] = VERDICTS) -> None:
        self._git = git
        self._root = root
        self._verdicts = tuple(verdicts)
        spelled = map(normalize, accepted)
        self._accepted = tuple(path for path in spelled if not isinstance(path, Refused))

    @override
    async def objections(self, base: CommitId, commit: CommitId) -> tuple[Objection, ...]:
        # Says NotFound where there is no such commit.
        await list_changed(self._git, self._root, base, commit)
        entries = await list_entries(self._git, self._root, base, commit)
        names = [entry.name for entry in entries if entry.is_there]
        sizes = await measure(self._git, self._root, names)
        old = [entry.old_name for entry in entries if entry.was_there and runs_tests(entry.path)]
        contents = await read(self._git, self._root, [*names, *old])
        made = [
            Alteration(
                each.path,
                each.old_mode,
                each.mode,
                sizes.get(each.name, 0),
                contents.get(each.name, b""),
                contents.get(each.old_name) if each.old_name in old else None,
            )
            for each in entries
        ]
        return judge_change(made, self._accepted, self._verdicts)
