"""Fixtures for tests with real agent CLIs; loaded by `pytest -p whilly.testing.plugin`.

A test that asks for a program that is not there is skipped, with the reason and the remedy.
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whilly.testing.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

AIMOCK = ".agents/node_modules/@copilotkit/aimock/dist/cli.js"
INSTALLED = ".agents/node_modules/.bin"
REMEDY = "run scripts/install_agents.sh"


@pytest.fixture(scope="session")
def test_environment() -> Mapping[str, str]:
    """The environment of the test run."""
    return dict(os.environ)  # noqa: TID251  (where programs are is the test run's business, not the product's)


@pytest.fixture(scope="session")
def bubblewrap(test_environment: Mapping[str, str]) -> str:
    """A `PATH` in which bubblewrap is."""
    path = test_environment.get("PATH", os.defpath)
    if sys.platform != "linux" or shutil.which("bwrap", path=path) is None:
        pytest.skip("no bubblewrap on PATH → apt install bubblewrap")
    return path


@pytest.fixture(scope="session")
def claude_program(test_environment: Mapping[str, str]) -> str:
    """Path of the real Claude Code: `WHILLY_TEST_CLAUDE`, else the one in `claude_agent_sdk`, else on PATH."""
    given = test_environment.get("WHILLY_TEST_CLAUDE")
    package = find_spec("claude_agent_sdk")
    bundled = Path(package.origin).parent / "_bundled" / "claude" if package and package.origin else None
    choices = (given,) if given else (str(bundled) if bundled else None, "claude")
    for choice in choices:
        found = shutil.which(choice) if choice else None
        if found:
            return found
    pytest.skip(f"no Claude Code: {given or 'neither claude_agent_sdk nor claude on PATH'} → {REMEDY}")


@pytest.fixture(scope="session")
def codex_program(test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> str:
    """Path of the real Codex: `WHILLY_TEST_CODEX`, else the one in `.agents/` of the repository, else on PATH."""
    return _find_program("codex", test_environment, request.config.rootpath)


@pytest.fixture(scope="session")
def gemini_program(test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> str:
    """The same for Gemini CLI."""
    return _find_program("gemini", test_environment, request.config.rootpath)


@pytest.fixture(scope="session")
def opencode_program(test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> str:
    """The same for OpenCode."""
    return _find_program("opencode", test_environment, request.config.rootpath)


def _find_program(name: str, environment: Mapping[str, str], root: Path) -> str:
    given = environment.get(f"WHILLY_TEST_{name.upper()}")
    # OpenCode's package for one platform holds the program, and links it nowhere.
    platform = sorted(map(str, root.glob(f".agents/node_modules/{name}-*/bin/{name}")))
    for choice in (given,) if given else (str(root / INSTALLED / name), *platform, name):
        found = shutil.which(choice)
        if found:
            return found
    pytest.skip(f"no {name}: {given or f'neither in {INSTALLED} nor on PATH'} → {REMEDY}")


@pytest.fixture(scope="session")
def scripted_model(test_environment: Mapping[str, str], request: pytest.FixtureRequest) -> Callable[..., ScriptedModel]:
    """The class `ScriptedModel` but for the paths of its programs, to be called with scripts.

    The server's `cli.js` is at `WHILLY_TEST_AIMOCK`, else in `.agents/` of the repository.
    """
    cli = Path(test_environment.get("WHILLY_TEST_AIMOCK") or request.config.rootpath / AIMOCK)
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH → install Node.js 20.15 or later")
    if not cli.is_file():
        pytest.skip(f"no scripted model server at {cli} → {REMEDY}")
    return partial(ScriptedModel, str(cli), node=node)
