"""Artefacts in memory and as files; and what else may lie where they are looked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.memory.artefacts import MemoryArtefacts
from whilly.adapters.system.artefacts import MAX_BYTES, FileArtefacts
from whilly.domain.errors import Unavailable
from whilly.testing.contracts.delivery.artefacts import RUN, ArtefactsContract

if TYPE_CHECKING:
    from whilly.ports.delivery.artefacts import Artefacts


class TestMemory(ArtefactsContract):
    @pytest.fixture
    def artefacts(self) -> Artefacts:
        return MemoryArtefacts()


class TestFiles(ArtefactsContract):
    @pytest.fixture
    def artefacts(self, tmp_path: Path) -> Artefacts:
        return FileArtefacts(tmp_path / "runs")


async def test_a_file_is_json_that_people_can_read(tmp_path: Path) -> None:
    where = await FileArtefacts(tmp_path / "runs").save(RUN, "plan", {"problem": "Größe"})
    path = tmp_path / "runs" / RUN / "plan.json"
    assert (Path(where), path.read_text(encoding="utf-8")) == (path, '{\n  "problem": "Größe"\n}\n')


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff", b'{"a": "' + b"x" * MAX_BYTES + b'"}'])
async def test_what_is_no_document_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / RUN).mkdir()
    (tmp_path / RUN / "plan.json").write_bytes(data)
    artefacts = FileArtefacts(tmp_path)
    assert await artefacts.load(RUN, "plan") is None
    await artefacts.save(RUN, "plan", {"a": 1})
    assert await artefacts.load(RUN, "plan") == {"a": 1}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes links for administrators only")
async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"token": "t"}', encoding="utf-8")
    (tmp_path / RUN).mkdir()
    (tmp_path / RUN / "plan.json").symlink_to(tmp_path / "secret.json")
    artefacts = FileArtefacts(tmp_path)
    assert await artefacts.load(RUN, "plan") is None
    await artefacts.save(RUN, "plan", {"a": 1})
    assert (tmp_path / "secret.json").read_text(encoding="utf-8") == '{"token": "t"}'


async def test_where_nothing_can_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file", encoding="utf-8")
    with pytest.raises(Unavailable, match=r"plan\.json cannot be written"):
        await FileArtefacts(tmp_path / "runs").save(RUN, "plan", {})
