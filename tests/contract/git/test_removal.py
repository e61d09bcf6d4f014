"""Directories that resist being removed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no such modes", allow_module_level=True)

from whilly.adapters.git.removal import remove_tree
from whilly.testing.privileges import EVERYBODY_ELSE, IS_ROOT, PLAIN

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
from whilly.adapters.git.removal import remove_tree
from whilly.domain.errors import PortError
try:
    remove_tree(Path(sys.argv[1]))
except PortError as error:
    print(error)
"""


def remove(path: Path) -> str:
    """Remove it as somebody whom modes hold up; the error."""
    ended = subprocess.run([*PLAIN, sys.executable, "-c", PROGRAM, str(path)], capture_output=True, check=True)
    return ended.stdout.decode().strip()


def test_directories_without_any_rights_are_removed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "f").touch(mode=0)
    for folder in (tree / "a" / "b", tree / "a", tree):
        folder.chmod(0)
    assert remove(tree) == ""
    assert not os.path.lexists(tree)


def test_what_a_link_leads_to_stays_as_it_is(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    (outside / "kept").mkdir(parents=True)
    tree.mkdir()
    (tree / "link").symlink_to(outside)
    outside.chmod(0o500)
    tree.chmod(0)
    assert remove(tree) == ""
    assert (outside / "kept").is_dir()
    assert outside.stat().st_mode & 0o777 == 0o500
    outside.chmod(0o700)


@pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")
def test_what_is_another_users_is_named_with_a_command(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "build").mkdir(parents=True)
    (tree / "build" / "o").touch()
    (tree / "mine").touch()
    os.chown(tree / "build", EVERYBODY_ELSE, EVERYBODY_ELSE)
    said = remove(tree)
    assert said.startswith(f"{tree} cannot be removed: {tree / 'build'}"), said
    assert f"→ sudo rm -rf {tree}" in said
    remove_tree(tree)


def test_absent_files_and_links_are_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "absent")
    (tmp_path / "file").touch()
    remove_tree(tmp_path / "file")
    (tmp_path / "loop").symlink_to("loop")
    remove_tree(tmp_path / "loop")
    assert list(tmp_path.iterdir()) == []
