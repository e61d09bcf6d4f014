from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from whilly.adapters.demo.agent import LABEL, PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def run(workspace: Path, prompt: str) -> list[dict[str, Any]]:
    argv = [sys.executable, "-I", "-S", str(PROGRAM), "session-1", "0", LABEL, "MARKER"]
    done = subprocess.run(argv, cwd=workspace, input=prompt.encode(), capture_output=True, check=True, timeout=30)
    assert not done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def prompt_for(key_files: Sequence[str], title: str = "do it") -> str:
    item = json.dumps({"id": "T-1", "title": title, "key_files": key_files})
    return f"Some words\n```\nwhilly-item: {item}\n```\nmore"


@pytest.mark.parametrize(
    ("claim", "path", "line"),
    [
        ("a.txt", "a.txt", "T-1: do it\n"),
        ("deep/er/a.txt", "deep/er/a.txt", "T-1: do it\n"),
        ("docs/", "docs/T-1.md", "T-1: do it\n"),
        ("there", "there/T-1.md", "T-1: do it\n"),
        ("src/**/*.py", "src/T-1.md", "T-1: do it\n"),
        ("*.txt", "T-1.md", "T-1: do it\n"),
        ("app.py", "app.py", "# T-1: do it\n"),
        ("app.ts", "app.ts", "// T-1: do it\n"),
    ],
)
def test_each_claim_gets_one_line(tmp_path: Path, claim: str, path: str, line: str) -> None:
    (tmp_path / "there").mkdir()
    run(tmp_path, prompt_for([claim]))
    assert (tmp_path / path).read_text() == line


def test_an_item_without_claims_leaves_a_file_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, prompt_for([]))
    assert (tmp_path / "whilly-demo" / "T-1.md").read_text() == "T-1: do it\n"


def test_the_same_item_twice_changes_nothing_more(tmp_path: Path) -> None:
    for _ in range(2):
        run(tmp_path, prompt_for(["a.txt"]))
    assert (tmp_path / "a.txt").read_text() == "T-1: do it\n"


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\x00\r\nlast")
    run(tmp_path, prompt_for(["a.txt"]))
    assert (tmp_path / "a.txt").read_bytes() == b"\xff\x00\r\nlast\nT-1: do it\n"


@pytest.mark.parametrize("claim", ["../out.txt", "/out.txt", "link/out.txt", ".git/config"])
def test_nothing_outside_the_workspace_is_touched(tmp_path: Path, claim: str) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(tmp_path)
    events = run(workspace, prompt_for([claim]))
    assert [event["type"] for event in events] == ["start", "activity", "result"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "workspace"]


def test_conflict_markers_are_resolved_by_keeping_both_sides(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n<<<<<<< HEAD\nours\n||||||| base\nold\n=======\ntheirs\n>>>>>>> other\ntwo\n")
    run(tmp_path, prompt_for(["a.txt"]))
    assert (tmp_path / "a.txt").read_text() == "one\nours\ntheirs\ntwo\nT-1: do it\n"


def test_a_title_is_text_and_one_line(tmp_path: Path) -> None:
    run(tmp_path, prompt_for(["a.txt"], title="$(id) é\n`x`" + "y" * 5_000))
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "T-1: $(id) é `x`" + "y" * 5_000 + "\n"


@pytest.mark.parametrize("prompt", ["", "whilly-item: {", "whilly-item: []", "say whilly-item: {}"])
def test_a_prompt_without_an_item_claims_nothing(tmp_path: Path, prompt: str) -> None:
    events = run(tmp_path, prompt)
    assert "MARKER" not in events[-1]["message"]
    assert not list(tmp_path.iterdir())


def test_the_output_says_that_it_is_a_demo(tmp_path: Path) -> None:
    events = run(tmp_path, prompt_for(["a.txt"]))
    assert events[0] == {"type": "start", "session": "session-1", "label": LABEL}
    assert events[1] == {"type": "activity", "text": "edit a.txt"}
    assert events[2]["message"].startswith(f"This is the {LABEL}.")
    assert events[2]["message"].endswith("\nMARKER")
