from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pytest

from whilly.cli.main import main
from whilly.testing.scratch import ScratchRepository
from whilly.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Told:
    """What one command left."""

    code: int
    out: str
    err: str


class Command(Protocol):
    def __call__(self, *words: str, **environ: str) -> Told: ...


@pytest.fixture
def scratch(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.make(tmp_path)


@pytest.fixture
def environ(scratch: ScratchRepository, test_environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of commands, made from nothing."""
    # How busy this machine is must not be seen in what commands say.
    calm = {"WHILLY_MACHINE__GUARDED": "false"}
    return {"PATH": test_environment["PATH"], "HOME": str(scratch.home), "LOGNAME": "ada", "TZ": "UTC", **calm}


@pytest.fixture
def command(scratch: ScratchRepository, environ: Mapping[str, str]) -> Command:
    """Runs the installed `whilly` in the scratch repository."""

    def run(*words: str, **more: str) -> Told:
        argv = [sys.executable, "-m", "whilly", *words]
        ended = subprocess.run(
            argv, cwd=scratch.root, env={**environ, **more}, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        return Told(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return run


@pytest.fixture
def here(
    scratch: ScratchRepository,
    environ: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Command:
    """The same within this process, which saves the start of a program: for commands that end by themselves."""
    monkeypatch.chdir(scratch.root)
    for name in ("WHILLY_RUN__PARALLEL", "XDG_CONFIG_HOME", "USER", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    def run(*words: str, **more: str) -> Told:
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        capfd.readouterr()
        code = main(words)
        told = capfd.readouterr()
        return Told(code, told.out, told.err)

    return run


@pytest.fixture
def shop(tmp_path: Path, test_environment: Mapping[str, str]) -> Iterator[Workshop]:
    """A repository in which the installed `whilly` works with scripted agents."""
    made = Workshop.make(tmp_path, test_environment["PATH"])
    yield made
    made.close()
