"""Check that a wheel carries every file of the package: `python scripts/check_wheel.py DIST.whl`.

Prompts, pipelines and migrations are data; a wheel without them installs and then fails on the user's machine.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(wheel: str) -> int:
    """Exit code 1 when the wheel lacks a tracked file of `src/`, or has one that is not tracked."""
    listed = subprocess.run(["git", "ls-files", "-z", "src"], cwd=ROOT, check=True, capture_output=True)
    tracked = {name.removeprefix("src/") for name in listed.stdout.decode().split("\0") if name}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("whilly/")}
    for name in sorted(tracked - packed):
        sys.stderr.write(f"{name} is not in the wheel\n")
    for name in sorted(packed - tracked):
        sys.stderr.write(f"{name} is in the wheel but not in the repository\n")
    print(f"{len(packed)} files in {Path(wheel).name}")
    return 1 if tracked ^ packed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
