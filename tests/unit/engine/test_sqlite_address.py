"""Any path as the URL of a database, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from whilly.engine.sqlite.address import find_file, sqlite_url

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "name", ["plain", "two words", "ünï", "a?b", "a%41b", "a#b", "é\udce9", "a&uri=false;'\"", "a\nb"]
)
def test_the_database_is_in_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "x.db"
    path.parent.mkdir()
    url = sqlite_url(path)
    engine = sa.create_engine(url)
    with engine.begin() as tx:
        tx.execute(sa.text("CREATE TABLE t (n INTEGER)"))
    engine.dispose()
    assert path.stat().st_size > 0
    assert find_file(sa.make_url(url)) == path
    assert list(path.parent.iterdir()) == [path]


def test_what_has_no_file_has_none() -> None:
    for url in ("sqlite://", "sqlite:///:memory:", "postgresql://host/base"):
        assert find_file(sa.make_url(url)) is None
