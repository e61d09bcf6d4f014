"""What the repository says holds on every machine, and its documents lead somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ADR_LINES = 60
AGENTS_LINES = 80
# Written in pieces, so that this file does not find itself.
MACHINE = re.compile(
    r"(?<![\w.~/-])/(?:" + "work" + r"|tmp/w|root)/|(?<!\w)/home/(?!user|you|me|dev|ada|alice|bob)\w+/"
)
HOSTS = ["pypi" + ".org", "files.pythonhosted" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org"]
SUSPENSION = re.compile(r"#\s*(noqa|type: ignore)(?!.*(\s{2}[(#]| - )\s*\S)", re.IGNORECASE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)


def read_text(path: Path) -> str | None:
    """The file's text; None for binary files."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None


def find_lines(files: list[Path], root: Path, pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(root)}:{number}: {line.strip()[:120]}"
        for path in files
        for number, line in enumerate((read_text(path) or "").splitlines(), start=1)
        if pattern.search(line)
    ]


def make_anchor(heading: str) -> str:
    """The anchor that forges give a heading."""
    text = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return text.replace(" ", "-")


def test_no_text_names_a_path_of_one_machine(files: list[Path], root: Path) -> None:
    assert find_lines(files, root, MACHINE) == []


def test_no_text_names_the_host_of_a_package_registry(files: list[Path], root: Path) -> None:
    assert find_lines(files, root, re.compile("|".join(map(re.escape, HOSTS)))) == []


def test_nothing_is_mocked_and_nothing_inside_is_patched(files: list[Path], root: Path) -> None:
    pattern = re.compile(r"(import |unittest\.)" + r"mock|monkeypatch\.setattr\(\s*[\"']?whilly")
    code = [path for path in files if path.suffix == ".py"]
    assert find_lines(code, root, pattern) == []


def test_every_rule_that_is_switched_off_says_why(files: list[Path], root: Path) -> None:
    code = [path for path in files if path.suffix == ".py"]
    assert find_lines(code, root, SUSPENSION) == []


def test_every_link_of_the_documents_leads_somewhere(files: list[Path], root: Path) -> None:
    faults = []
    for path in (path for path in files if path.suffix == ".md"):
        for target in LINK.findall(path.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            aim = (path.parent / name) if name else path
            headings = HEADING.findall(aim.read_text(encoding="utf-8")) if aim.suffix == ".md" and aim.exists() else []
            if not aim.exists() or (anchor and anchor not in map(make_anchor, headings)):
                faults.append(f"{path.relative_to(root)}: {target}")
    assert faults == []


def test_decision_records_are_numbered_without_gaps_and_fit_on_a_page(root: Path) -> None:
    records = sorted((root / "docs" / "adr").glob("[0-9]*.md"))
    assert [path.name[:5] for path in records] == [f"{number:04}-" for number in range(1, len(records) + 1)]
    lengths = {path.name: path.read_text(encoding="utf-8").count("\n") for path in records}
    assert {name: length for name, length in lengths.items() if length > ADR_LINES} == {}


def test_the_page_for_agents_stays_short(root: Path) -> None:
    assert (root / "AGENTS.md").read_text(encoding="utf-8").count("\n") <= AGENTS_LINES
