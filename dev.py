"""Set up, try and test Whilly with nothing but git and Python 3.11 or later.

    python3 dev.py try               run a small plan in a scratch repository and show what came out
    python3 dev.py test [ARGS…]      set up and run the tests; ARGS go to pytest
    python3 dev.py setup [--e2e]     only set up `.venv`, from the lock files

Everything is installed into `.venv` beside this file, which is used again as long as the lock files stay the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "whilly-setup.json"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-e2e.lock")
"""Each holds all that the one before it holds, in the same versions."""
OLDEST = (3, 11)
NAMES = ("python3.14", "python3.13", "python3.12", "python3.11")


def main(arguments: list[str] | None = None) -> int:
    """Exit code of the command that was asked for."""
    require_python()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup").add_argument("--e2e", action="store_true", help="also what runs real agent CLIs")
    commands.add_parser("try").add_argument("--agent", default="demo", help="`demo` by default; `claude` spends money")
    commands.add_parser("test", add_help=False)
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "test":
        parser.error(f"unknown arguments: {' '.join(rest)}")
    require_git()
    if options.command == "try":
        set_up("requirements.lock")
        return show_try(options.agent)
    set_up("requirements-e2e.lock" if getattr(options, "e2e", False) else "requirements-dev.lock")
    if options.command == "test":
        return call("-m", "pytest", "-n", "auto", *rest)
    return 0


def require_python() -> None:
    """Leave with a remedy when this Python cannot do."""
    if sys.version_info < OLDEST:
        newer = next((name for name in NAMES if shutil.which(name)), None)
        remedy = f"run: {newer} dev.py …" if newer else "install Python 3.11 or later"
        sys.exit(f"Python {sys.version.split()[0]} is too old → {remedy}")
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        sys.exit(f"this Python has no venv module → on Debian and Ubuntu: apt install {package}")


def require_git() -> None:
    """Leave with a remedy when there is no git."""
    if shutil.which("git") is None:
        sys.exit("git is not on PATH → install it from your package manager or https://git-scm.com")


def set_up(lock: str) -> None:
    """Make `.venv` hold exactly what the lock says, and Whilly itself from this checkout."""
    done = read_stamp()
    if any(done.get(name) == hash_setup(name) for name in LOCKS[LOCKS.index(lock) :]):
        return
    if not is_usable_venv():
        say(f"making {VENV}")
        run([sys.executable, "-m", "venv", "--clear", str(VENV)])
        done = {}
    say(f"installing what {lock} lists")
    pip = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
    run([str(PYTHON), *pip, "--require-hashes", "--requirement", str(ROOT / lock)])
    # The build tool is in the lock, so nothing unlocked is fetched to install the package itself.
    run([str(PYTHON), *pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    STAMP.write_text(json.dumps({**done, lock: hash_setup(lock)}), encoding="utf-8")


def hash_setup(lock: str) -> str:
    """What a set-up depends on: the lock, the package's own description, and where both lie."""
    parts = [(ROOT / name).read_bytes() for name in (lock, "pyproject.toml")]
    return hashlib.sha256(b"\0".join([*parts, str(ROOT).encode()])).hexdigest()


def read_stamp() -> dict[str, str]:
    """What was set up before; empty when `.venv` is not usable or nothing is known."""
    if not is_usable_venv():
        return {}
    try:
        return {str(name): str(value) for name, value in json.loads(STAMP.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def is_usable_venv() -> bool:
    """Whether `.venv` has a Python that still starts and is new enough."""
    probe = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        return subprocess.run([str(PYTHON), "-c", probe], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def show_try(agent: str) -> int:
    """Run the sample plan in a scratch repository; exit code of `whilly run`."""
    if agent != "demo" and shutil.which(agent) is None:
        sys.exit(f"the agent `{agent}` is not on PATH → install it, or leave out --agent to use the demo agent")
    home = Path(tempfile.mkdtemp(prefix="whilly-try-"))
    git = ["git", "-C", str(home)]
    run([*git, "init", "--quiet", "--initial-branch", "main"])
    run([*git, "config", "user.name", "Whilly Try"])
    run([*git, "config", "user.email", "try@example.invalid"])
    (home / "README.md").write_text("# A scratch repository\n", encoding="utf-8")
    run([*git, "add", "README.md"])
    run([*git, "commit", "--quiet", "--message", "a first commit"])
    if call("-m", "whilly", "init", "--sample", at=home):
        sys.exit(f"`whilly init` failed in {home}")
    code = call("-m", "whilly", "run", "tasks.json", "--agent", agent, at=home)
    say("what the branches hold now:")
    run([*git, "--no-pager", "log", "--oneline", "--decorate", "--graph", "--branches"])
    say("the report:")
    call("-m", "whilly", "report", at=home)
    say(f"look around in {home}; delete it when you are done")
    return code


def call(*arguments: str, at: Path = ROOT) -> int:
    """Exit code of the set-up Python with these arguments."""
    say("$ python " + " ".join(arguments))
    return subprocess.run([str(PYTHON), *arguments], cwd=at, check=False).returncode


def run(command: list[str]) -> None:
    """Run a command that has to succeed; leave with its exit code when it does not."""
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"failed with exit code {done.returncode}: {' '.join(command)}")


def say(text: str) -> None:
    """Tell the person what happens next, in order with what the commands print."""
    print(f"· {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
