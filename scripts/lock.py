"""Write the lock files, or check that they belong to pyproject.toml.

`python scripts/lock.py` resolves anew, keeping locked versions where they still fit (`--upgrade` forgets them).
`python scripts/lock.py --check` needs no network: each lock file carries the hash of the tables it was made from.

Three files, since three kinds of machine need different amounts: a user (`requirements.lock`), somebody who changes
Whilly (`requirements-dev.lock`), and one that also runs real agent CLIs, hundreds of megabytes of them
(`requirements-e2e.lock`). They are resolved as a chain, so a package has the same version in all three.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS: dict[str, tuple[str, ...]] = {
    "requirements.lock": ("build",),
    "requirements-dev.lock": ("build", "dev"),
    "requirements-e2e.lock": ("build", "dev", "e2e"),
}
MARK = "# inputs: sha256:"


def hash_inputs(groups: tuple[str, ...]) -> str:
    """Hash of everything in pyproject.toml that decides what these groups lock."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tables = [data["project"]["requires-python"], data["project"]["dependencies"], data["build-system"]["requires"]]
    tables += [data["dependency-groups"], sorted(groups)]
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def compile_lock(name: str, groups: tuple[str, ...], earlier: str | None, *, upgrade: bool) -> None:
    """Resolve one lock file for every supported Python and platform, without naming an index in it."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--generate-hashes", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    command += ["--custom-compile-command", "make lock", "--output-file", name, "pyproject.toml"]
    command += [part for group in groups for part in ("--group", group)]
    if earlier is not None:
        command += ["--constraint", earlier]
    if upgrade:
        command += ["--upgrade"]
    subprocess.run(command, cwd=ROOT, check=True)
    path = ROOT / name
    body = re.sub(rf"^{MARK}.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    head = f"{MARK}{hash_inputs(groups)}\n"
    path.write_text(head + body, encoding="utf-8", newline="\n")


def find_faults(name: str, groups: tuple[str, ...]) -> list[str]:
    """What is wrong with one lock file, in sentences."""
    path = ROOT / name
    if not path.is_file():
        return [f"{name} is missing"]
    text = path.read_text(encoding="utf-8")
    faults = []
    if not text.startswith(f"{MARK}{hash_inputs(groups)}\n"):
        faults.append(f"{name} was not made from this pyproject.toml")
    if "://" in text:
        faults.append(f"{name} names a download address")
    unhashed = re.findall(r"^([A-Za-z0-9][^\s=]*==[^\s;\\]+)[^\\\n]*$", text, flags=re.MULTILINE)
    faults += [f"{name} has no hash for {requirement}" for requirement in unhashed]
    return faults


def main() -> int:
    """Exit code 1 when `--check` finds something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; say what is out of date")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that fit")
    options = parser.parse_args()
    if options.check:
        faults = [fault for name, groups in LOCKS.items() for fault in find_faults(name, groups)]
        sys.stderr.writelines(f"{fault} → run `make lock`\n" for fault in faults)
        return 1 if faults else 0
    earlier: str | None = None
    for name, groups in LOCKS.items():
        compile_lock(name, groups, earlier, upgrade=options.upgrade)
        earlier = name
    return 0


if __name__ == "__main__":
    sys.exit(main())
