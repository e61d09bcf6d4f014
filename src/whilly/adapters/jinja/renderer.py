"""Fills prompt templates with Jinja."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def make_renderer(folder: Path) -> Callable[[str, Mapping[str, object]], str]:
    """Fills prompt templates: those of `folder`, else the packaged ones; an unknown variable is an error."""
    loader = jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader(folder), jinja2.PackageLoader("whilly.application", "prompts")]
    )
    environment = jinja2.Environment(  # noqa: S701  (the prompts are Markdown, not HTML)
        loader=loader, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )

    def render(name: str, values: Mapping[str, object]) -> str:
        try:
            return environment.get_template(f"{name}.md.j2").render(values)
        except jinja2.TemplateError as error:
            message = f"prompt template {name}.md.j2: {error}"
            raise ConfigError(message, remedy=f"correct {folder / name}.md.j2") from error

    return render
