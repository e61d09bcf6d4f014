"""The tree as the structure tests see it: parsed once, by what git tracks and what is about to be tracked."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """One module of the package: its path inside `src/whilly`, its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    def classes(self) -> list[ast.ClassDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Every file of the repository that is not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


@pytest.fixture(scope="session")
def modules() -> list[Module]:
    package = ROOT / "src" / "whilly"
    found = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Module(path.relative_to(package).as_posix(), text, ast.parse(text)))
    return found
