"""Texts of a real repository: read from its commits, put into its work tree."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.git.command import Git
from whilly.adapters.git.delivery.documents import MAX_BYTES, GitDocuments
from whilly.domain.errors import PortError
from whilly.domain.ids import CommitId
from whilly.testing.contracts.delivery.documents import PATH, DocumentsContract
from whilly.testing.scratch import ScratchRepository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from whilly.ports.delivery.documents import Documents


@pytest.fixture
def scratch(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.make(tmp_path)


@pytest.fixture
def documents(scratch: ScratchRepository, test_environment: Mapping[str, str]) -> Documents:
    git = Git(env={"PATH": test_environment["PATH"], "HOME": str(scratch.home)})
    return GitDocuments(git, scratch.root)


class TestGit(DocumentsContract):
    pass


async def test_a_commit_that_is_not_there_is_an_error(documents: Documents) -> None:
    with pytest.raises(PortError):
        await documents.read(CommitId("0" * 40), PATH)


async def test_a_huge_file_is_none(documents: Documents, scratch: ScratchRepository) -> None:
    scratch.write(scratch.root, {PATH: "x" * (MAX_BYTES + 1)})
    assert await documents.read(scratch.commit("huge"), PATH) is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
async def test_others_may_read_it_as_they_may_read_all_that_its_user_makes(
    documents: Documents, scratch: ScratchRepository
) -> None:
    (scratch.root / "usual").touch()
    await documents.put(PATH, "text", replaces=False)
    made, usual = (stat.S_IMODE((scratch.root / name).stat().st_mode) for name in (PATH, "usual"))
    assert made == usual
