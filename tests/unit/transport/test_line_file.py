from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.transport.process.line_file import CHUNK_BYTES, LINE_BYTES, read_lines

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def read_all(path: Path, *, is_ended: bool = True) -> list[bytes]:
    lines, offset = [], 0
    while (found := read_lines(path, offset, lambda: is_ended))[0]:
        lines += found[0]
        offset = found[1]
    return lines


def test_a_long_file_comes_in_portions_and_whole(path: Path) -> None:
    expected = [b"%d" % number * 40 for number in range(50_000)]
    path.write_bytes(b"\n".join(expected) + b"\n")
    first, offset = read_lines(path, 0, lambda: True)
    assert 0 < len(first) < len(expected)
    assert offset <= CHUNK_BYTES
    assert read_all(path) == expected


def test_a_line_of_many_megabytes_comes_whole(path: Path) -> None:
    path.write_bytes(b"a\n" + b"x" * (5 * CHUNK_BYTES) + b"\nb\n")
    assert [len(line) for line in read_all(path)] == [1, 5 * CHUNK_BYTES, 1]


def test_a_line_without_bounds_comes_in_pieces_even_before_its_end(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LINE_BYTES + 5)
    assert [len(line) for line in read_all(path, is_ended=False)] == [LINE_BYTES]
    assert [len(line) for line in read_all(path)] == [LINE_BYTES, 5]


def test_an_unfinished_line_is_left_while_it_may_grow(path: Path) -> None:
    path.write_bytes(b"one\ntwo")
    assert read_all(path, is_ended=False) == [b"one"]
    assert read_all(path) == [b"one", b"two"]


def test_what_is_written_until_the_end_is_read_with_it(path: Path) -> None:
    path.write_bytes(b"one")

    def end() -> bool:
        path.write_bytes(b"one, and more")
        return True

    assert read_lines(path, 0, end) == ([b"one, and more"], 13)


def test_a_cut_file_is_read_on_from_its_end(path: Path) -> None:
    path.write_bytes(b"short\n")
    assert read_lines(path, 100, lambda: False) == ([], 6)


def test_a_missing_file_has_no_lines(path: Path) -> None:
    assert read_lines(path, 7, lambda: False) == ([], 0)
