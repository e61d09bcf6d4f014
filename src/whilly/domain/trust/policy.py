"""What of a change is refused, and what a person has to look at, when whoever made it is not trusted."""

from __future__ import annotations

import posixpath
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from typing_extensions import override

from whilly.domain.claims import outside
from whilly.domain.trust.leak import find_leaks
from whilly.domain.trust.weakening import find_weakening, is_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_FILES = 300
MAX_BYTES = 5 * 1024 * 1024
_GONE, _LINK, _SUBMODULE, _EXECUTABLE = "000000", "120000", "160000", "100755"


class Consequence(StrEnum):
    """What becomes of a change that something is wrong with."""

    REFUSED = "refused"
    """It goes back to be mended, whoever looks at it."""
    REVIEW = "review"
    """It waits until a person has looked at it."""


@dataclass(frozen=True, slots=True)
class Alteration:
    """One path that a change touches.

    Attributes:
        old_mode: git's mode before; `000000` when it was not there.
        mode: git's mode now; `000000` when it is gone.
        size: in bytes, now.
        content: the beginning of what is there now; a link's target, whole.
        before: what was there before, of tests and of what runs them; None when it was not there or was not looked at.
    """

    path: str
    old_mode: str
    mode: str
    size: int = 0
    content: bytes = b""
    before: bytes | None = None


@dataclass(frozen=True, slots=True)
class Objection:
    """Why one path of a change is not taken over just so.

    Attributes:
        rule: a name for it; an API.
    """

    path: str
    rule: str
    consequence: Consequence
    why: str

    @override
    def __str__(self) -> str:
        """For people, in one line of printable characters."""
        shown = self.path.encode("unicode_escape").decode("ascii")
        return f"{shown} ({self.rule}: {self.why})"


_REVIEWED = (
    ("ci", "it decides what the forge runs", (
        ".github/*", ".gitea/*", ".forgejo/*", ".gitlab-ci.yml", ".gitlab/*", "Jenkinsfile*", ".circleci/*",
        ".woodpecker*", ".drone*", "azure-pipelines*.yml", "bitbucket-pipelines.yml", ".ci/*",
    )),
    ("agent_configuration", "it tells later agents what to do", (
        ".claude/*", ".codex/*", ".gemini/*", ".opencode/*", ".cursor/*", ".cursorrules", "opencode.json*", ".mcp.json",
        "*CLAUDE.md", "*AGENTS.md", "*GEMINI.md", "whilly.toml", ".whilly/*",
    )),
    ("repository_configuration", "it changes what tools do in this repository", (
        "*.gitmodules", "*.gitattributes", "*CODEOWNERS", "*.npmrc", "*.yarnrc*", "pip.conf", ".pre-commit-config.yaml",
        ".husky/*", ".githooks/*", "hooks/*", ".envrc", ".vscode/*", ".devcontainer/*",
    )),
    ("dependencies", "it brings in other people's code", (
        "*package.json", "*package-lock.json", "*yarn.lock", "*pnpm-lock.yaml", "*pyproject.toml", "*requirements*.txt",
        "*requirements*.lock", "*setup.py", "*setup.cfg", "*poetry.lock", "*uv.lock", "*Pipfile*", "*Cargo.toml",
        "*Cargo.lock", "*go.mod", "*go.sum", "*Gemfile*", "*composer.json", "*composer.lock", "*pom.xml",
        "*build.gradle*",
    )),
    ("deployment", "it is what is deployed, or how", (
        "*Dockerfile*", "*docker-compose*.y*ml", "deploy/*", "*deploy*.sh", "*.tf", "k8s/*", "helm/*",
    )),
)  # fmt: skip
"""Rule, reason, patterns of paths (`*` matches slashes, too)."""
VERDICTS = (
    "12-review.md",
    "13-test-report.md",
    "14-deploy-log.md",
    "verdict.json",
    "*-verdict.json",
)
"""Names of files that would pass for the word of a reviewer, of a tester or of whoever deploys; in any folder."""


def judge_change(
    alterations: Sequence[Alteration], accepted: Sequence[str] = (), verdicts: Sequence[str] = VERDICTS
) -> tuple[Objection, ...]:
    """Everything that is to be said against a change; nothing means that it may be taken over.

    Args:
        alterations: what it touches.
        accepted: paths, directories or globs that a person has already agreed to; they spare a review, no refusal.
        verdicts: names or globs of files that only Whilly writes.
    """
    found = [objection for each in alterations for objection in (*_refuse(each), *_refuse_verdict(each, verdicts))]
    if len(alterations) > MAX_FILES:
        why = f"it touches {len(alterations)} files, at most {MAX_FILES} are taken"
        found.append(Objection(alterations[0].path, "too_many_files", Consequence.REFUSED, why))
    reviewed = [objection for each in alterations for objection in _review(each)]
    open_paths = set(outside([each.path for each in reviewed], accepted)) if accepted else None
    return (*found, *(each for each in reviewed if open_paths is None or each.path in open_paths))


def render_objections(objections: Iterable[Objection], most: int = 20) -> str:
    """All of them as a list for people, cut after `most`."""
    lines = [str(objection) for objection in objections]
    return "; ".join(lines[:most]) + (f"; and {len(lines) - most} more" if len(lines) > most else "")


def _refuse(each: Alteration) -> Iterator[Objection]:
    if odd := _find_oddity(each.path):
        yield Objection(each.path, "odd_path", Consequence.REFUSED, odd)
    if any(_is_git(part) for part in each.path.split("/")):
        yield Objection(each.path, "git_directory", Consequence.REFUSED, "git would take it for its own")
    if each.mode == _SUBMODULE:
        yield Objection(each.path, "submodule", Consequence.REFUSED, "it names a commit of another repository")
    if each.mode == _LINK and _leads_out(each.path, each.content):
        target = each.content[:100].decode("utf-8", "replace")
        yield Objection(
            each.path, "link_outside", Consequence.REFUSED, f"it leads out of the repository, to {target!r}"
        )
    if each.size > MAX_BYTES:
        yield Objection(each.path, "too_large", Consequence.REFUSED, f"it has {each.size} bytes, at most {MAX_BYTES}")
    for kind in find_leaks(each.content):
        yield Objection(each.path, "secret", Consequence.REFUSED, f"it holds what looks like {kind}")


def _refuse_verdict(each: Alteration, verdicts: Sequence[str]) -> Iterator[Objection]:
    name = posixpath.basename(each.path).casefold()
    # One that is taken away is a forgery as well: the work then looks as if nobody had objected to it.
    if any(fnmatchcase(name, pattern.casefold()) for pattern in verdicts):
        why = "it would say that the work was looked at; a verdict is never a file of the work"
        yield Objection(each.path, "verdict", Consequence.REFUSED, why)


def _review(each: Alteration) -> Iterator[Objection]:
    for rule, why, patterns in _REVIEWED:
        if any(fnmatchcase(each.path, pattern) for pattern in patterns):
            yield Objection(each.path, rule, Consequence.REVIEW, why)
    before = each.before.decode("utf-8", "replace") if each.before is not None else None
    after = each.content.decode("utf-8", "replace") if each.mode != _GONE else None
    for sign in find_weakening(each.path, before, after):
        if sign.sign != "deleted":
            yield Objection(each.path, f"tests_{sign.sign}", Consequence.REVIEW, sign.why)
    if each.mode == _GONE and is_test(each.path):
        yield Objection(each.path, "test_deleted", Consequence.REVIEW, "what it tested is tested no more")
    if each.mode == _EXECUTABLE and each.old_mode != _EXECUTABLE:
        yield Objection(each.path, "executable", Consequence.REVIEW, "it can be run by its name")


def _find_oddity(path: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in path):
        return "its name is not UTF-8"
    kinds = {unicodedata.category(letter) for letter in path}
    if kinds & {"Cc", "Cf", "Zl", "Zp"}:
        return "its name holds characters that are not seen"
    return ""


def _is_git(part: str) -> bool:
    # As file systems that ignore case, or that drop dots and blanks at the end, see it.
    bare = part.casefold().rstrip(". ").partition(":")[0]
    return bare in {".git", "git~1"}


def _leads_out(path: str, target: bytes) -> bool:
    text = target.decode("utf-8", "surrogateescape")
    if text.startswith("/") or "\\" in text or "\0" in text:
        return True
    end = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    return end == ".." or end.startswith("../") or end.split("/")[0] == ".git"
