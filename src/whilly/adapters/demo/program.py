"""The demo agent's program. It runs by itself (`python -I -S program.py`), so it imports the standard library only.

It reads the prompt on standard input, finds the line `whilly-item: {"id": …, "title": …, "key_files": […]}`, adds the
line `<id>: <title>` to every key file (as a comment where the file is source code), and reports in JSON lines.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

HASH_COMMENTS = frozenset({".cfg", ".ini", ".mk", ".py", ".pyi", ".rb", ".sh", ".tf", ".toml", ".yaml", ".yml"})
SLASH_COMMENTS = frozenset(
    {".c", ".cpp", ".cs", ".go", ".h", ".java", ".js", ".jsx", ".kt", ".rs", ".swift", ".ts", ".tsx"}
)
CONFLICT = re.compile(r"^<{7} .*?\n(.*?)(?:^\|{7}.*?\n.*?)?^={7}\n(.*?)^>{7} .*?(?:\n|\Z)", re.MULTILINE | re.DOTALL)
GLOB = re.compile(r"[*?\[{]")


def emit(**event: object) -> None:
    """Write one JSON line at once."""
    sys.stdout.write(json.dumps(event, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def find_item(prompt: str) -> dict[str, object]:
    """The item that the prompt's first well-formed `whilly-item:` line describes; empty when there is none."""
    for line in prompt.splitlines():
        if not line.startswith("whilly-item:"):
            continue
        try:
            item = json.loads(line.removeprefix("whilly-item:"))
        except ValueError:
            continue
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            return item
    return {}


def choose_target(root: Path, claim: str, name: str) -> Path | None:
    """The file to change for one claim, inside `root`; None when the claim points outside."""
    glob = GLOB.search(claim)
    head = claim[: glob.start()].rpartition("/")[0] if glob else claim
    path = root / head
    if glob or claim.endswith("/") or path.is_dir():
        path = path / f"{name}.md"
    inside = path.resolve().is_relative_to(root)
    return path if inside and ".git" not in path.relative_to(root).parts else None


def add_line(path: Path, line: str) -> None:
    """Put the line at the end of the file, once; conflict markers are resolved by keeping both sides."""
    prefix = "# " if path.suffix in HASH_COMMENTS or path.name == "Makefile" else ""
    prefix = "// " if path.suffix in SLASH_COMMENTS else prefix
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_bytes().decode("utf-8", errors="surrogateescape") if path.exists() else ""
    after = CONFLICT.sub(r"\1\2", before)
    if prefix + line not in after.splitlines():
        after += ("" if not after or after.endswith("\n") else "\n") + prefix + line + "\n"
    if after != before:
        path.write_bytes(after.encode("utf-8", errors="surrogateescape"))


def work(item: dict[str, object], root: Path) -> list[str]:
    """Make the item's changes; the changed paths, relative to `root`."""
    title = " ".join(str(item.get("title", "")).split())
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(item["id"])).strip(".-")[:100] or "item"
    claims = item.get("key_files")
    claims = [claim for claim in claims if isinstance(claim, str) and claim] if isinstance(claims, list) else []
    done = []
    for claim in claims or [f"whilly-demo/{name}.md"]:
        target = choose_target(root, claim, name)
        if target is None:
            emit(type="activity", text=f"skip {claim}: outside the workspace")
            continue
        add_line(target, f"{item['id']}: {title}")
        path = target.relative_to(root).as_posix()
        emit(type="activity", text=f"edit {path}")
        done.append(path)
    return done


def main(session: str, pause: float, label: str, marker: str) -> int:
    """Do one session; 0 when the item was worked on."""
    prompt = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    emit(type="start", session=session, label=label)
    if pause:
        time.sleep(pause)
    item = find_item(prompt)
    paths = work(item, Path.cwd().resolve()) if item else []
    told = f"This is the {label}. "
    told += f"Changed: {', '.join(paths)}.\n{marker}" if paths else "The prompt has no item that it could work on."
    usage = {"input_tokens": len(prompt) // 4, "output_tokens": len(told) // 4, "turns": 1}
    emit(type="result", session=session, message=told, cost_usd=0, usage=usage)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]))
