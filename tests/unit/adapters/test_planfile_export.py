from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.adapters.planfile import export, write_atomically
from whilly.domain.errors import PortError, RuleViolation, Unavailable
from whilly.domain.ids import ItemId
from whilly.domain.work_item import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

DONE = {ItemId("A"): ItemStatus.DONE}
FULL = Path("/dev/full")


def test_only_the_status_changes() -> None:
    before = (
        '{"project" : "Проект \\u043f",\r\n\t"x": 1.10, "big": 123456789012345678901234567890,\n'
        '   "tasks":[ {"own": {"status": "pending"}, "status"  :\t"pending" , "id":"A"},\n '
        '{"id":"B","status":"pending"}]\n}\n\n'
    )
    after = export(before.encode(), DONE).decode()
    assert after == before.replace('"status"  :\t"pending"', '"status"  :\t"done"')


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ('{"id":"A"}', '{"id":"A","status":"done"}'),
        ('{ "id": "A" }', '{ "id": "A", "status": "done" }'),
        ('{\n  "id": "A",\n  "x": [\n    1\n  ]\n}', '{\n  "id": "A",\n  "x": [\n    1\n  ],\n  "status": "done"\n}'),
        ('{"id": "A", "status": null}', '{"id": "A", "status": "done"}'),
        ('{"id": "A", "status": ["odd"]}', '{"id": "A", "status": "done"}'),
        ('{"id": "A", "status": "done"}', '{"id": "A", "status": "done"}'),
    ],
)
def test_a_missing_or_odd_status_is_put_in_the_layout_of_its_task(task: str, expected: str) -> None:
    assert export(f'{{"tasks": [{task}]}}'.encode(), DONE).decode() == f'{{"tasks": [{expected}]}}'


def test_what_is_not_named_stays() -> None:
    text = b'{"tasks": [{"id": "B", "status": "failed"}, {"no": "id"}, 5]}'
    assert export(text, DONE) == text


def test_the_byte_order_mark_stays() -> None:
    text = b'\xef\xbb\xbf{"tasks": [{"id": "A", "status": "x"}]}'
    assert export(text, DONE) == b'\xef\xbb\xbf{"tasks": [{"id": "A", "status": "done"}]}'


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"tasks": 1}', b"\xff"])
def test_a_file_that_has_become_something_else_is_not_touched(broken: bytes) -> None:
    with pytest.raises(RuleViolation, match="cannot be updated"):
        export(broken, DONE)


def test_a_file_is_replaced_as_a_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["tasks.json"]


def test_a_file_that_was_not_there_is_created(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new.json", b"x")
    assert (tmp_path / "new.json").read_bytes() == b"x"


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    real = tmp_path / "plans" / "tasks.json"
    real.write_bytes(b"old")
    link = tmp_path / "link.json"
    link.symlink_to("plans/tasks.json")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert [each.name for each in real.parent.iterdir()] == ["tasks.json"]


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(PortError, match="cannot be written"):
        write_atomically(tmp_path / "a", b"x")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(PortError, match="it is not a regular file"):
        write_atomically(tmp_path, b"x")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(PortError, match=r"tasks\.json cannot be written: No such file or directory"):
        write_atomically(tmp_path / "gone" / "tasks.json", b"x")


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process may grow beyond 1,000 bytes: the nearest thing to a full disk without one."""
    resource = pytest.importorskip("resource", reason="limits on file sizes need POSIX")
    signal = pytest.importorskip("signal")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.usefixtures("small_files")
def test_a_write_that_breaks_off_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(b"old")
    with pytest.raises(Unavailable, match="the file is larger than is allowed"):
        write_atomically(path, b"x" * 5_000)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["tasks.json"]


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full exists on Linux only")
def test_the_error_of_a_full_disk_is_the_one_that_is_translated() -> None:
    with pytest.raises(OSError, match="No space left") as caught, FULL.open("wb", buffering=0) as device:
        device.write(b"x")
    assert caught.value.errno == errno.ENOSPC


def test_a_folder_without_permission_is_named_with_the_remedy(tmp_path: Path) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        folder = Path("/proc/self")
        if not folder.exists():
            pytest.skip("root may write everywhere, and there is no /proc to try")
        with pytest.raises(PortError, match="cannot be written"):
            write_atomically(folder / "tasks.json", b"x")
        return
    tmp_path.chmod(0o500)
    with pytest.raises(PortError, match="permission is missing for its folder → make its folder writable"):
        write_atomically(tmp_path / "tasks.json", b"x")
    tmp_path.chmod(0o700)
