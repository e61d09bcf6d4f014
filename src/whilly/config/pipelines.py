"""Pipelines from TOML: the packaged ones, and those that a repository puts in `.whilly/pipelines/`."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from whilly.domain.attempt import Outcome
from whilly.domain.errors import ConfigError
from whilly.domain.flow.pipeline import END, Pipeline, Route, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TOP = {"name", "first", "stages"}
_AGENT = {"role", "prompt", "answer", "resumes"}
_STAGE = {"next", "branch", "action", "integrates", "renews", "attempts", "on"} | _AGENT
_ROUTE = {"to", "limit", "then"}


def load_pipelines(folder: Path, *, max_attempts: int) -> Mapping[str, Pipeline]:
    """All pipelines by name; a repository's own replaces a packaged one of the same name.

    Args:
        folder: the repository's own; need not exist.
        max_attempts: for stages that do not say themselves how many tries they get.

    Raises:
        ConfigError: a file is not a pipeline, with everything that is wrong in it.
    """
    found: dict[str, Pipeline] = {}
    packaged = files("whilly.application").joinpath("pipelines")
    sources = [(f"{entry.name} (packaged)", entry.read_text("utf-8")) for entry in packaged.iterdir()]
    sources += [(str(path), path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))]
    for source, text in sources:
        pipeline = parse_pipeline(text, source, max_attempts=max_attempts)
        found[pipeline.name] = pipeline
    return found


def parse_pipeline(text: str, source: str, *, max_attempts: int = 3) -> Pipeline:
    """The pipeline that `text` describes.

    Raises:
        ConfigError: with everything that is wrong.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{source}: {error}"
        raise ConfigError(message) from error
    problems = _unknown(table, _TOP, "")
    stages: dict[str, Stage] = {}
    for name, entry in table.get("stages", {}).items():
        problems += _unknown(entry, _STAGE, f"stages.{name}.")
        stages[name] = _stage(name, entry, max_attempts, problems)
    pipeline = Pipeline(str(table.get("name", "")), str(table.get("first", "")), stages)
    problems += pipeline.problems()
    if problems:
        raise ConfigError("\n  ".join([f"{source} is not a pipeline:", *problems]), remedy=f"correct {source}")
    return pipeline


def _unknown(table: Mapping[str, Any], known: set[str], where: str) -> list[str]:
    found = []
    for key in table.keys() - known:
        near = get_close_matches(key, known, n=1)
        found.append(f"unknown key {where}{key}" + (f"; did you mean {near[0]}?" if near else ""))
    return sorted(found)


def _stage(name: str, entry: Mapping[str, Any], max_attempts: int, problems: list[str]) -> Stage:
    stage = Stage(
        name=name,
        next=str(entry.get("next", "")),
        role=str(entry.get("role", "")),
        action=str(entry.get("action", "")),
        branches={str(key): str(to) for key, to in entry.get("branch", {}).items()},
        prompt=str(entry.get("prompt", "")),
        answer=str(entry.get("answer", "")),
        resumes=bool(entry.get("resumes", False)),
        integrates=bool(entry.get("integrates", False)),
        renews=bool(entry.get("renews", False)),
        attempts=int(entry.get("attempts", max_attempts)),
    )
    if "next" not in entry:
        problems.append(f"stage {name!r}: `next` is missing; an empty one ends the run")
    routes = {}
    for outcome, route in entry.get("on", {}).items():
        if outcome not in set(Outcome):
            problems.append(f"stage {name!r}: {outcome!r} is no outcome; known: {', '.join(Outcome)}")
            continue
        problems += _unknown(route, _ROUTE, f"stages.{name}.on.{outcome}.")
        routes[Outcome(outcome)] = Route(
            str(route.get("to", "")), int(route.get("limit", 0)), str(route.get("then", END))
        )
    return replace(stage, routes=routes)
