"""Which commands set a repository up and check it, read from the files at its root."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whilly.domain.change import CheckCommand

READ = (
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
)
"""The files whose content matters; of all others the name is enough."""

NO_TESTS_COLLECTED = 5
"""Pytest's exit code when there is no test yet, which is no failure."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How a repository, or one language in it, is set up and checked.

    Attributes:
        repair_verify: quick ones, to be tried first on a repair.
        suggestions: more checks that the repository seems to know; to be switched on by a person.
        notes: what could not be read or decided.
    """

    name: str
    setup: tuple[CheckCommand, ...] = ()
    verify: tuple[CheckCommand, ...] = ()
    repair_verify: tuple[CheckCommand, ...] = ()
    suggestions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Root:
    """The top of a repository.

    Attributes:
        names: of its files and directories.
        texts: the content of those in `READ` that are there.
    """

    names: frozenset[str]
    texts: Mapping[str, str] = field(default_factory=dict)

    def has(self, *names: str) -> bool:
        """Whether one of these is there."""
        return not self.names.isdisjoint(names)


def detect_profile(root: Root) -> Profile:
    """The profile of everything that is recognised, in one; without commands when nothing is."""
    found = [profile for detect in _DETECTORS if (profile := detect(root)) is not None]
    make = _detect_make(root)
    if make is not None and any(profile.verify for profile in found):
        # A Makefile beside a language's own tools calls the same checks: running both would only take longer.
        found.append(Profile("", suggestions=tuple(command.run for command in make.verify)))
    elif make is not None:
        found.append(make)
    return Profile(
        name="+".join(profile.name for profile in found if profile.name),
        setup=tuple(command for profile in found for command in profile.setup),
        verify=tuple(command for profile in found for command in profile.verify),
        repair_verify=tuple(command for profile in found for command in profile.repair_verify),
        suggestions=tuple(command for profile in found for command in profile.suggestions),
        notes=tuple(note for profile in found for note in profile.notes),
    )


def _setup(*lines: str) -> tuple[CheckCommand, ...]:
    return tuple(CheckCommand(line, kind="setup") for line in lines)


def _verify(*lines: str) -> tuple[CheckCommand, ...]:
    return tuple(CheckCommand(line) for line in lines)


def _detect_python(root: Root) -> Profile | None:
    if not root.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"):
        return None
    notes = []
    project: dict[str, Any] = {}
    try:
        project = tomllib.loads(root.texts.get("pyproject.toml", ""))
    except tomllib.TOMLDecodeError as error:
        notes.append(f"pyproject.toml is not valid TOML: {error}")
    tools = _table(project, "tool")
    setup, prefix = _set_up_python(root, project)
    verify, repair = _test_python(root, prefix)
    known = {
        "ruff check .": "ruff" in tools or root.has("ruff.toml", ".ruff.toml"),
        "mypy .": "mypy" in tools or root.has("mypy.ini", ".mypy.ini"),
    }
    linters = tuple(prefix + command for command, is_known in known.items() if is_known)
    return Profile("python", setup, verify, repair, suggestions=linters, notes=tuple(notes))


def _set_up_python(root: Root, project: Mapping[str, Any]) -> tuple[tuple[CheckCommand, ...], str]:
    """The commands that install a Python project, and what goes before the name of an installed program."""
    tools = _table(project, "tool")
    if root.has("uv.lock") or "uv" in tools:
        return _setup("uv sync --locked" if root.has("uv.lock") else "uv sync"), "uv run "
    if root.has("poetry.lock") or "poetry" in tools:
        return _setup("poetry install"), "poetry run "
    if root.has("pdm.lock") or "pdm" in tools:
        return _setup("pdm sync -d" if root.has("pdm.lock") else "pdm install -d"), "pdm run "
    wanted = [f"-r {name}" for name in READ if "requirements" in name and root.has(name)]
    if root.has("setup.py", "setup.cfg") or "build-system" in project or "project" in project:
        extras = [name for name in ("dev", "test", "tests", "testing") if name in _extras(project)]
        wanted.append(f"-e '.[{','.join(extras)}]'" if extras else "-e .")
    wanted += [f"--group {name}" for name in ("dev", "test", "tests") if name in _table(project, "dependency-groups")]
    if _uses_pytest(root) and not any("pytest" in text for text in root.texts.values()):
        wanted.append("pytest")
    create, install = "python3 -m venv .venv", ".venv/bin/python -m pip install --quiet"
    # `--group` came with pip 25.1, and a fresh environment has the pip of its Python.
    upgrade = [f"{install} --upgrade pip"] if any(part.startswith("--group") for part in wanted) else []
    return _setup(create, *upgrade, f"{install} {' '.join(wanted)}"), ".venv/bin/"


def _test_python(root: Root, prefix: str) -> tuple[tuple[CheckCommand, ...], tuple[CheckCommand, ...]]:
    python = f"{prefix}python"
    if _uses_pytest(root):
        accept = (0, NO_TESTS_COLLECTED)
        return (
            (CheckCommand(f"{python} -m pytest -q", accept),),
            (CheckCommand(f"{python} -m pytest -q -x", accept),),
        )
    if root.has("tests", "test"):
        # Unittest of Python 3.12 and later ends with 5 as well when there is no test.
        accept = (0, NO_TESTS_COLLECTED)
        return (CheckCommand(f"{python} -m unittest discover", accept),), ()
    return _verify(f"{python} -m compileall -q -x '[.](venv|git|whilly)' ."), ()


def _uses_pytest(root: Root) -> bool:
    names = {"pytest.ini", ".pytest.ini", "conftest.py"}
    texts = (text for name, text in root.texts.items() if name not in {"package.json", "Makefile"})
    return root.has(*names) or any("pytest" in text for text in texts)


def _extras(project: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(_table(project, "project"), "optional-dependencies")


def _table(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    child = parent.get(name)
    return child if isinstance(child, dict) else {}


_NODE_INSTALLERS = (
    # lock file, program, install command
    ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn", "yarn install --frozen-lockfile"),
    ("bun.lock", "bun", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun", "bun install --frozen-lockfile"),
    ("package-lock.json", "npm", "npm ci"),
    ("npm-shrinkwrap.json", "npm", "npm ci"),
)


def _detect_node(root: Root) -> Profile | None:
    if not root.has("package.json"):
        return None
    try:
        package = json.loads(root.texts.get("package.json", ""))
    except ValueError as error:
        return Profile("node", notes=(f"package.json is not valid JSON: {error}",))
    package = package if isinstance(package, dict) else {}
    program, install = _choose_installer(root, package)
    scripts = {name: text for name, text in _table(package, "scripts").items() if isinstance(text, str)}
    run = f"{program} run "
    has_tests = "test" in scripts and "no test specified" not in scripts["test"]
    quick = [name for name in ("typecheck", "type-check") if name in scripts]
    return Profile(
        "node",
        setup=_setup(install),
        verify=_verify(f"{run}test") if has_tests else _verify(*(run + name for name in ("build",) if name in scripts)),
        repair_verify=_verify(*(run + name for name in quick)),
        suggestions=tuple(run + name for name in ("lint", *quick) if name in scripts),
    )


def _choose_installer(root: Root, package: Mapping[str, Any]) -> tuple[str, str]:
    """The program, and its command that installs what the lock file says."""
    manager = str(package.get("packageManager", ""))
    for lock, program, install in _NODE_INSTALLERS:
        if root.has(lock):
            is_modern_yarn = program == "yarn" and (root.has(".yarnrc.yml") or re.match(r"yarn@[2-9]", manager))
            return program, "yarn install --immutable" if is_modern_yarn else install
    named = manager.partition("@")[0]
    program = named if named in {"pnpm", "yarn", "bun"} else "npm"
    return program, f"{program} install"


def _detect_go(root: Root) -> Profile | None:
    if not root.has("go.mod", "go.work"):
        return None
    return Profile("go", _setup("go mod download"), _verify("go build ./...", "go test ./..."), _verify("go vet ./..."))


def _detect_rust(root: Root) -> Profile | None:
    if not root.has("Cargo.toml"):
        return None
    locked = " --locked" if root.has("Cargo.lock") else ""
    return Profile(
        "rust",
        _setup(f"cargo fetch{locked}"),
        _verify(f"cargo test{locked}"),
        _verify(f"cargo check --all-targets{locked}"),
        suggestions=("cargo clippy --all-targets -- -D warnings",),
    )


_MAKE_TARGET = re.compile(r"^([A-Za-z0-9_.-]+)\s*:(?![=:])", re.MULTILINE)


def _detect_make(root: Root) -> Profile | None:
    text = next((root.texts[name] for name in ("GNUmakefile", "makefile", "Makefile") if name in root.texts), None)
    if text is None:
        return None
    targets = set(_MAKE_TARGET.findall(text))
    setup = [f"make {name}" for name in ("setup", "bootstrap", "deps") if name in targets][:1]
    verify = [f"make {name}" for name in ("check", "test") if name in targets]
    quick = [f"make {name}" for name in ("lint", "build") if name in targets][:1]
    if not (setup or verify or quick):
        return Profile("", notes=("the Makefile has none of the targets check, test, lint, build and setup",))
    return Profile("make", _setup(*setup), _verify(*verify), _verify(*quick) if verify else ())


_DETECTORS: tuple[Callable[[Root], Profile | None], ...] = (_detect_python, _detect_node, _detect_go, _detect_rust)
