"""The contract of the Documents port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.domain.errors import RuleViolation
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.delivery.documents import Documents
    from whilly.testing.scratch import ScratchRepository

TEXT = "Žluťoučký\r\nkůň"
PATH = "docs/deep/one.md"


class DocumentsContract(ContractSuite):
    """Override the fixtures `scratch`, a repository, and `documents`, those of it."""

    async def test_what_a_commit_has_is_read_whatever_the_work_tree_says(
        self, documents: Documents, scratch: ScratchRepository
    ) -> None:
        scratch.write(scratch.root, {PATH: TEXT})
        commit = scratch.commit("document")
        scratch.write(scratch.root, {PATH: "other"})
        assert await documents.read(commit, PATH) == TEXT

    async def test_what_is_no_ordinary_file_is_none(self, documents: Documents, scratch: ScratchRepository) -> None:
        scratch.write(scratch.root, {PATH: TEXT})
        (scratch.root / "link.md").symlink_to(PATH)
        commit = scratch.commit("document")
        for path in ("docs", "docs/", "link.md", "none.md", "docs/*/one.md", ":(glob)**/one.md"):
            assert await documents.read(commit, path) is None, path

    async def test_it_is_put_into_the_work_tree_and_may_be_put_again(
        self, documents: Documents, scratch: ScratchRepository
    ) -> None:
        before = scratch.refs()
        for _ in range(2):
            await documents.put(PATH, TEXT, replaces=False)
        assert (scratch.root / PATH).read_bytes() == TEXT.encode()
        listed = scratch.git("status", "--porcelain", "--untracked-files=all")
        assert (listed, scratch.refs()) == (f"?? {PATH}", before)

    async def test_another_text_is_replaced_only_when_that_is_wanted(
        self, documents: Documents, scratch: ScratchRepository
    ) -> None:
        scratch.write(scratch.root, {PATH: "mine"})
        with pytest.raises(RuleViolation, match="is there already, and is not overwritten"):
            await documents.put(PATH, TEXT, replaces=False)
        assert (scratch.root / PATH).read_text(encoding="utf-8") == "mine"
        await documents.put(PATH, TEXT, replaces=True)
        assert (scratch.root / PATH).read_bytes() == TEXT.encode()

    async def test_nothing_is_put_where_a_link_leads(self, documents: Documents, scratch: ScratchRepository) -> None:
        outside = scratch.home / "outside"
        outside.mkdir()
        (scratch.root / "docs").symlink_to(outside)
        (scratch.root / "one.md").symlink_to(outside / "one.md")
        for path in ("docs/one.md", "../one.md", "one.md"):
            with pytest.raises(RuleViolation):
                await documents.put(path, TEXT, replaces=True)
        assert list(outside.iterdir()) == []

    async def test_what_is_no_file_stays(self, documents: Documents, scratch: ScratchRepository) -> None:
        (scratch.root / PATH).mkdir(parents=True)
        with pytest.raises(RuleViolation, match="it is a directory"):
            await documents.put(PATH, TEXT, replaces=True)
