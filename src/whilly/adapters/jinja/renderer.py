"""Fills prompt templates with Jinja."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2
from jinja2 import meta

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

_FAULTS = (jinja2.TemplateError, UnicodeDecodeError, OSError)


def make_renderer(folder: Path) -> Callable[[str, Mapping[str, object]], str]:
    """Fills prompt templates: those of `folder`, else the packaged ones; an unknown variable is an error."""
    environment = _open(_find(folder))

    def render(name: str, values: Mapping[str, object]) -> str:
        try:
            return environment.get_template(f"{name}.md.j2").render(values)
        except _FAULTS as error:
            raise _tell(folder, f"{name}.md.j2", error) from error

    return render


def check_templates(folder: Path, names: Iterable[str]) -> None:
    """See that prompt templates, and those that they use, are templates.

    Raises:
        ConfigError: one is not.
    """
    loader = _find(folder)
    environment = _open(loader)
    waiting, known = [f"{name}.md.j2" for name in names], set[str]()
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        try:
            environment.get_template(name)
            waiting += _list_used(environment, loader.get_source(environment, name)[0])
        except _FAULTS as error:
            raise _tell(folder, name, error) from error


def _list_used(environment: jinja2.Environment, text: str) -> list[str]:
    """The templates that this one uses, as far as it says which."""
    return [each for each in meta.find_referenced_templates(environment.parse(text)) if each]


def _find(folder: Path) -> jinja2.BaseLoader:
    return jinja2.ChoiceLoader([jinja2.FileSystemLoader(folder), jinja2.PackageLoader("whilly.application", "prompts")])


def _open(loader: jinja2.BaseLoader) -> jinja2.Environment:
    return jinja2.Environment(  # noqa: S701  (the prompts are Markdown, not HTML)
        loader=loader, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )


def _tell(folder: Path, name: str, error: Exception) -> ConfigError:
    match error:
        case jinja2.TemplateSyntaxError():
            message = f"prompt template {error.name or name}: line {error.lineno}: {error.message}"
        case UnicodeDecodeError():
            message = f"prompt template {name}: it is not UTF-8 text (byte {error.start + 1})"
        case jinja2.TemplateNotFound():
            message = f"prompt template {error.name or name}: there is none"
        case _:
            message = f"prompt template {name}: {error}"
    return ConfigError(message, remedy=f"correct {folder / name}")
