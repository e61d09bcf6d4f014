"""Records of an attempt, written by several processes at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import sys
from whilly.transport.process.records import write_record
path, number = sys.argv[1:]
sys.stdin.read(1)
for _ in range(300):
    write_record(path, '{"number": "' + number * 2000 + '"}', is_durable=False)
"""


def test_who_writes_the_same_record_at_the_same_time_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    argv = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*argv, number], stdin=subprocess.PIPE, stderr=subprocess.PIPE) for number in "123"]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"x")
        writer.stdin.flush()
    assert [writer.communicate()[1].decode() for writer in writers] == ["", "", ""]
    assert set(json.loads(path.read_text(encoding="utf-8"))["number"]) <= set("123")
    assert [each.name for each in tmp_path.iterdir()] == ["spec.json"]
