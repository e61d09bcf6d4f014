"""Pipelines from TOML: the packaged ones, and those that a repository puts in `.whilly/pipelines/`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Any, Final, TypeVar

from whilly.domain.attempt import Outcome
from whilly.domain.errors import ConfigError
from whilly.domain.flow.action import list_actions
from whilly.domain.flow.pipeline import END, Pipeline, Route, Stage

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

T = TypeVar("T")

_TOP = {"name", "first", "stages"}
_AGENT = {"role", "prompt", "answer", "resumes"}
_STAGE = {"next", "branch", "action", "integrates", "renews", "attempts", "on"} | _AGENT
_ROUTE = {"to", "limit", "then"}
_KINDS: Final[Mapping[type, str]] = {str: "a text", bool: "true or false", int: "a whole number", dict: "a table"}
_TEMPLATE = ".md.j2"


def load_pipelines(folder: Path, *, max_attempts: int) -> Mapping[str, Pipeline]:
    """All pipelines by name; a repository's own replaces a packaged one of the same name.

    Args:
        folder: the repository's `.whilly`, with `pipelines` and `prompts`; need not exist.
        max_attempts: for stages that do not say themselves how many tries they get.

    Raises:
        ConfigError: a file is not a pipeline, with everything that is wrong in it.
    """
    found: dict[str, Pipeline] = {}
    packaged = files("whilly.application")
    sources = [
        (f"{entry.name} (packaged)", entry.read_text("utf-8")) for entry in packaged.joinpath("pipelines").iterdir()
    ]
    sources += [(str(path), _read(path)) for path in sorted((folder / "pipelines").glob("*.toml"))]
    templates = [*packaged.joinpath("prompts").iterdir(), *(folder / "prompts").glob(f"*{_TEMPLATE}")]
    prompts = {entry.name.removesuffix(_TEMPLATE) for entry in templates if entry.name.endswith(_TEMPLATE)}
    for source, text in sources:
        pipeline = parse_pipeline(text, source, prompts, max_attempts=max_attempts)
        found[pipeline.name] = pipeline
    return found


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path} is not a pipeline: it is not UTF-8 text (byte {error.start + 1})"
        raise ConfigError(message, remedy=f"save {path} as UTF-8, or remove it") from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ConfigError(message, remedy=f"make {path} readable, or remove it") from error


def parse_pipeline(text: str, source: str, prompts: Collection[str], *, max_attempts: int = 3) -> Pipeline:
    """The pipeline that `text` describes.

    Args:
        text: TOML.
        source: where the text is from, for people.
        prompts: the names of the templates that there are.
        max_attempts: for stages that do not say themselves how many tries they get.

    Raises:
        ConfigError: with everything that is wrong.
    """
    try:
        entry = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{source} is not a pipeline: it is not valid TOML: {error}"
        raise ConfigError(message, remedy=f"correct {source}") from error
    problems: list[str] = []
    table = _Table(entry, "", problems)
    table.limit_keys(_TOP)
    stages = {name: _stage(name, each, max_attempts) for name, each in table.take_tables("stages").items()}
    pipeline = Pipeline(table.take("name", str, "", "?"), table.take("first", str, ""), stages)
    problems += [] if pipeline.name else ["`name` is missing"]
    problems += [*pipeline.problems(), *_bad_actions(pipeline), *_bad_prompts(pipeline, prompts)]
    if problems:
        raise ConfigError("\n  ".join([f"{source} is not a pipeline:", *problems]), remedy=f"correct {source}")
    return pipeline


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that is read key by key; what is wrong in it is added to `problems`.

    Attributes:
        where: the keys that lead to it, each with a point behind it.
    """

    entry: Mapping[str, Any]
    where: str
    problems: list[str]

    def limit_keys(self, known: Collection[str]) -> None:
        """No others than these are known."""
        strange = sorted(self.entry.keys() - known)
        self.problems.extend(f"unknown key {self.where}{key}{_tell_near(key, known)}" for key in strange)

    def take(self, key: str, kind: type[T], absent: T, wrong: T | None = None) -> T:
        """What the key says; `absent` when it is not there, and `wrong`, or else that, when it is not of this kind."""
        value = self.entry.get(key, absent)
        # To Python, true and false are numbers.
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        told = str(value).lower() if isinstance(value, bool) else shorten(value)
        self.problems.append(f"{self.where}{key} must be {_KINDS[kind]}, not {told}")
        return absent if wrong is None else wrong

    def take_tables(self, key: str) -> Mapping[str, _Table]:
        """The tables in the table of this name."""
        outer = _Table(self.take(key, dict, {}), f"{self.where}{key}.", self.problems)
        return {
            name: _Table(outer.take(name, dict, {}), f"{outer.where}{name}.", self.problems) for name in outer.entry
        }

    def take_texts(self, key: str) -> Mapping[str, str]:
        """The texts in the table of this name."""
        outer = _Table(self.take(key, dict, {}), f"{self.where}{key}.", self.problems)
        return {name: outer.take(name, str, "") for name in outer.entry}


def _stage(name: str, table: _Table, max_attempts: int) -> Stage:
    table.limit_keys(_STAGE)
    if "next" not in table.entry:
        table.problems.append(f"stage {name!r}: `next` is missing; an empty one ends the run")
    return Stage(
        name=name,
        next=table.take("next", str, ""),
        role=table.take("role", str, ""),
        action=table.take("action", str, ""),
        branches=table.take_texts("branch"),
        prompt=table.take("prompt", str, ""),
        answer=table.take("answer", str, ""),
        resumes=table.take("resumes", bool, absent=False),
        integrates=table.take("integrates", bool, absent=False),
        renews=table.take("renews", bool, absent=False),
        routes=_routes(name, table),
        attempts=table.take("attempts", int, max_attempts),
    )


def _routes(name: str, table: _Table) -> Mapping[Outcome, Route]:
    routes = {}
    for outcome, route in table.take_tables("on").items():
        if outcome not in set(Outcome):
            known = f"known: {', '.join(Outcome)}"
            table.problems.append(f"stage {name!r}: {outcome!r} is no outcome; {known}")
            continue
        route.limit_keys(_ROUTE)
        limit = route.take("limit", int, 0, 1)
        routes[Outcome(outcome)] = Route(route.take("to", str, ""), limit, route.take("then", str, END))
    return routes


def _bad_actions(pipeline: Pipeline) -> list[str]:
    """Actions that nobody carries out, and branches that nothing leads to."""
    actions = list_actions(pipeline.name)
    found = []
    for stage in pipeline.stages.values():
        if stage.action and stage.action not in actions:
            known = f"the actions of {pipeline.name!r} are {', '.join(actions)}"
            told = _tell_near(stage.action, actions, known)
            found.append(f"stage {stage.name!r}: unknown action {stage.action!r}{told}")
            continue
        branches = sorted(actions.get(stage.action, ()))
        known = f"it has {', '.join(branches) or 'none'}"
        who = f"action {stage.action!r}" if stage.action else "an agent"
        found += [
            f"stage {stage.name!r}: {who} has no branch {name!r}{_tell_near(name, branches, known)}"
            for name in stage.branches
            if name not in branches
        ]
    return found


def _bad_prompts(pipeline: Pipeline, prompts: Collection[str]) -> list[str]:
    """Agents that are told nothing, or something that is not there."""
    found = []
    for stage in pipeline.stages.values():
        if stage.prompt and stage.prompt not in prompts:
            known = f"there are {', '.join(sorted(prompts))}; your own are .whilly/prompts/NAME{_TEMPLATE}"
            told = _tell_near(stage.prompt, prompts, known)
            found.append(f"stage {stage.name!r}: prompt {stage.prompt!r} names no template{told}")
        elif stage.is_agent and not stage.prompt:
            found.append(f"stage {stage.name!r}: `prompt` is missing: an agent has to be told what to do")
    return found


def _tell_near(word: str, known: Collection[str], more: str = "") -> str:
    near = get_close_matches(word, known, n=1)
    told = [f"did you mean {near[0]}?"] if near else []
    told += [more] if more else []
    return f"; {' '.join(told)}" if told else ""
