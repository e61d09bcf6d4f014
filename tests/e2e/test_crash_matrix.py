"""`kill -9` at every point of Whilly's life: nothing is lost, doubled, orphaned or stuck."""

from __future__ import annotations

import ast
import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from whilly.ports.checkpoint import ACTS, DOCUMENT_ACTS, FORGE_ACTS, FORGE_UNITS, POINTS, UNITS
from whilly.testing.crash.matrix import measure, sample
from whilly.testing.crash.story import Kill, every_point, tell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SEED = 20_260
AT_RANDOM = 8
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions that outlive Whilly")


def play(kill: Kill, folder: Path) -> None:
    verdict = tell(kill, folder)
    output = (folder / "output.log").read_text(encoding="utf-8", errors="replace")[-2000:]
    assert verdict.faults == [], f"killed at {kill}; what whilly said at last: {output}"
    assert verdict.kills or kill.number != 1
    shutil.rmtree(folder, ignore_errors=True)


@posix
@pytest.mark.parametrize("kill", every_point(), ids=str)
def test_killed_at_every_point(kill: Kill, tmp_path: Path) -> None:
    play(kill, tmp_path / "site")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, int], float]:
    return measure(tmp_path_factory.mktemp("undisturbed"))


@posix
@pytest.mark.parametrize("number", range(AT_RANDOM))
def test_killed_at_random(number: int, undisturbed: tuple[Mapping[str, int], float], tmp_path: Path) -> None:
    counts, seconds = undisturbed
    play(list(sample(counts, seconds, AT_RANDOM, SEED))[number], tmp_path / "site")


def find_names(root: Path, function: str) -> Counter[str]:
    """What the functions of this name are called with, as far as it is written out."""
    found: Counter[str] = Counter()
    for path in sorted((root / "src" / "whilly").rglob("*.py")):
        if "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] == function:
                first = node.args[0]
                found[str(first.value) if isinstance(first, ast.Constant) else ast.unparse(first)] += 1
    return found


def test_the_list_of_points_is_the_code_s(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    assert set(find_names(root, "unit")) == {*UNITS, *FORGE_UNITS}
    passed = {*find_names(root, "checkpoint"), *find_names(root, "_pass")}
    acts = {f"{act}:{moment}" for act in (*ACTS, *FORGE_ACTS, *DOCUMENT_ACTS) for moment in ("before", "after")}
    assert passed == acts
    units = {name.replace("{name}", "") for name in find_names(root, "_checkpoint") if "{name}" in name}
    assert units == {"f':before'", "f':inside'", "f':after'"}
    assert len(POINTS) == len(set(POINTS))
