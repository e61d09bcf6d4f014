"""What the tutorial tells people to type works, word for word."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_commands(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [line.removeprefix("$ ") for block in BLOCK.findall(text) for line in block.splitlines()]


def test_every_command_of_the_tutorial_works(
    tmp_path: Path, test_environment: Mapping[str, str], pytestconfig: pytest.Config
) -> None:
    commands = read_commands(pytestconfig.rootpath / "docs" / "tutorial" / "first-plan.md")
    assert len(commands) > 10
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "PATH": f"{Path(sys.executable).parent}:{test_environment['PATH']}",
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    script = "set -e\n" + "\n".join(commands)
    ended = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    log = subprocess.run(
        ["git", "log", "--format=%s", "main"],
        cwd=tmp_path / "shop",
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(log.stdout.splitlines()) == 2 + 5
    assert (tmp_path / "shop" / "tasks.json").read_text(encoding="utf-8").count('"status": "done"') == 5
