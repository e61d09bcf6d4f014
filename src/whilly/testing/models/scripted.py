"""ScriptedModel: the server `@copilotkit/aimock`, playing scripts to real agent CLIs."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

from whilly.domain.errors import Unavailable
from whilly.testing.models.script import render_fixtures

if TYPE_CHECKING:
    from types import TracebackType

    from whilly.testing.models.script import Script

START_LIMIT = 30.0
"""Seconds; it takes half a second on a quiet machine."""

# The server ends when its standard input does, so that it also ends when the tests are killed.
END_WITH_PARENT = "data:text/javascript,process.stdin.resume();process.stdin.on('close',()=>process.exit())"
LISTENING = re.compile(r"listening on (http://\S+)")


@final
class ScriptedModel:
    """A model server for the time of a `with` block.

    Args:
        cli: path of aimock's `dist/cli.js`.
        node: the program that runs it, version 20.15 or later.
    """

    def __init__(self, cli: str, *scripts: Script, node: str = "node") -> None:
        self._argv = (node, "--import", END_WITH_PARENT, cli, "-p", "0", "--journal-max", "0")
        self._fixtures = render_fixtures(scripts)
        self.url = ""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="whilly-model-")
        folder = Path(self._folder.name)
        fixtures = folder / "fixtures.json"
        fixtures.write_text(json.dumps(self._fixtures), encoding="utf-8")
        self._log = folder / "log.txt"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603  (a program that the test chose)
                [*self._argv, "-f", str(fixtures)], stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self.url = self._wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def requests(self) -> list[dict[str, Any]]:
        """Every request so far, oldest first: `method`, `path`, `headers`, `body`; long bodies are cut."""
        with urllib.request.urlopen(f"{self.url}/v1/_requests", timeout=10) as answer:  # noqa: S310  (our own loopback server)
            journal: list[dict[str, Any]] = json.load(answer)
        return journal

    def _wait_until_ready(self) -> str:
        deadline = time.monotonic() + START_LIMIT
        while self._process.poll() is None and time.monotonic() < deadline:
            found = LISTENING.search(self._log.read_text(encoding="utf-8", errors="replace"))
            if found:
                return found.group(1)
            time.sleep(0.02)
        message = f"the scripted model did not start: {self._log.read_text(encoding='utf-8', errors='replace')[-2000:]}"
        raise Unavailable(message)

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()
        self._folder.cleanup()
