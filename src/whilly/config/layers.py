"""All sources of settings, put on top of each other: the later one wins, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from whilly.config.environment import process_environment, user_file
from whilly.config.problems import InvalidConfiguration, Problem
from whilly.config.settings import AgentTable, Settings
from whilly.config.sources import (
    Entry,
    Layer,
    Origin,
    Reading,
    read_dotenv,
    read_environment,
    read_flags,
    read_text,
    read_toml,
    read_toml_text,
)

REPOSITORY_FILE = "whilly.toml"
DOTENV_FILE = ".env"
DEFAULT = Origin(Layer.DEFAULT)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look for settings.

    Attributes:
        root: the repository's root: `whilly.toml` and `.env` are looked for there.
        user_file: the user's own TOML file.
        environment: the variables that count.
        flags: what the command line says, by key (`run.parallel`); None is a flag that was not given.
    """

    root: Path
    user_file: Path
    environment: Mapping[str, str]
    flags: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A valid configuration.

    Attributes:
        origins: key → where its value comes from; a key that is not here has its default.
        warnings: what is accepted but has no effect, or is deprecated.
        environment: the variables with those of `.env` beneath them; what `env:NAME` refers to.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    warnings: tuple[Problem, ...]
    environment: Mapping[str, str]

    def origin(self, key: str) -> Origin:
        """Where the value of a setting comes from."""
        return self.origins.get(key, DEFAULT)


def load_settings(root: Path, flags: Mapping[str, object] | None = None) -> Loaded:
    """The configuration of the repository at `root`, as this process sees it.

    Raises:
        InvalidConfiguration: with everything that is wrong.
    """
    return combine(Sources(root, user_file(), process_environment(), flags or {}))


def combine(sources: Sources) -> Loaded:
    """The configuration that these sources make.

    Raises:
        InvalidConfiguration: with everything that is wrong in any of them.
    """
    unreadable: list[Problem] = []
    dotenv, variables = read_dotenv(read_text(sources.root / DOTENV_FILE, DOTENV_FILE, unreadable), DOTENV_FILE)
    dotenv.problems.extend(unreadable)
    if dotenv.entries and sources.environment.get("WHILLY_SUPPRESS_DOTENV_WARNING", "") in {"", "0"}:
        dotenv.warnings.insert(0, _DEPRECATED)
    readings = [
        read_toml(sources.user_file, Layer.USER, str(sources.user_file)),
        read_toml(sources.root / REPOSITORY_FILE, Layer.REPOSITORY, REPOSITORY_FILE),
        dotenv,
        read_environment(sources.environment),
        read_flags(sources.flags),
    ]
    problems = [problem for reading in readings for problem in reading.problems]
    settings, origins = _assemble(readings, problems)
    if problems:
        raise InvalidConfiguration(problems)
    return Loaded(
        settings=settings,
        origins=origins,
        warnings=tuple(warning for reading in readings for warning in reading.warnings),
        environment={**variables, **sources.environment},
    )


def find_problems(text: str) -> list[Problem]:
    """What is wrong with the text of a settings file, taken by itself."""
    reading = read_toml_text(text, Layer.REPOSITORY, REPOSITORY_FILE)
    problems = list(reading.problems)
    _assemble([reading], problems)
    return problems


_DEPRECATED = Problem(
    DOTENV_FILE,
    "settings in `.env` are deprecated",
    "`whilly config migrate` moves them; WHILLY_SUPPRESS_DOTENV_WARNING=1 hides this",
)


def _assemble(readings: list[Reading], problems: list[Problem]) -> tuple[Settings, dict[str, Origin]]:
    tree: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    for entry in (entry for reading in readings for entry in reading.entries):
        try:
            _plant(tree, entry)
        except ValueError as error:
            problems.append(Problem(entry.origin.place, f"{entry.leaf.key}: {error}"))
        else:
            origins[entry.leaf.key] = entry.origin
    settings = Settings.model_validate(tree)
    problems.extend(_undrivable_agents(settings.agents, origins))
    return settings, origins


def _plant(tree: dict[str, object], entry: Entry) -> None:
    value = entry.parse()
    *tables, name = entry.leaf.path
    branch = tree
    for table in tables:
        branch = cast("dict[str, object]", branch.setdefault(table, {}))
    branch[name] = value


def _undrivable_agents(agents: Mapping[str, AgentTable], origins: Mapping[str, Origin]) -> list[Problem]:
    return [
        Problem(
            next(
                (origin.place for key, origin in origins.items() if key.startswith(f"agents.{name}.")), f"agents.{name}"
            ),
            f"agents.{name}.argv is missing: an agent of kind `command` needs its command line",
            'write argv = ["program", "argument"]',
        )
        for name, table in agents.items()
        if table.driver(name) == "command" and not table.argv
    ]
