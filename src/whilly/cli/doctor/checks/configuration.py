"""Settings, pipelines, secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.bootstrap.rules import require_prompts
from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said
from whilly.config.schema import Leaf, find
from whilly.config.secrets import ReferencedSecrets, name_keyring
from whilly.config.values import is_reference
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whilly.cli.doctor.site import Site

FOR_LATER = ("github", "jira", "project_board")
"""Tables that this version accepts and does not use, but for:"""
USED = frozenset({"github.token"})


def look_at_settings(site: Site) -> Iterator[Said]:
    """What is wrong with them, and which of them do nothing."""
    edit = "whilly config edit"
    for problem in site.problems:
        yield found("configuration_invalid", str(problem), subject=problem.place, remedy=problem.remedy or edit)
    for warning in site.project.loaded.warnings:
        what = f"{warning.place}: {warning.message}"
        yield found("configuration_warning", what, subject=warning.place, remedy=warning.remedy or "remove it")
    for key, origin in site.project.loaded.origins.items():
        if key.partition(".")[0] in FOR_LATER and key not in USED:
            what = f"{origin.place}: {key} is set, and this version does not use it"
            yield found("setting_for_later", what, subject=key, remedy="nothing, or remove it")


def look_at_pipelines(site: Site) -> Iterator[Said]:
    """Whether the repository's own are right, and the prompts of their agents."""
    state = site.project.state
    try:
        pipelines = site.project.pipelines
    except ConfigError as error:
        yield found("pipeline_invalid", error.message, subject=str(state / "pipelines"), remedy=error.remedy)
        return
    yield Fact("pipelines", ", ".join(sorted(pipelines)))
    try:
        require_prompts(state / "prompts", pipelines.values())
    except ConfigError as error:
        yield found("prompt_invalid", error.message, subject=str(state / "prompts"), remedy=error.remedy)


def look_at_secrets(site: Site) -> Iterator[Said]:
    """Whether every secret that a setting refers to is there."""
    loaded = site.project.loaded
    secrets = ReferencedSecrets(loaded.environment)
    for key, reference in _list_references(site):
        place = f"{key} ({loaded.origin(key).place})"
        is_kept = reference.startswith("keyring:")
        try:
            secret = secrets.resolve(reference)
        except ConfigError as error:
            code = "keyring_unusable" if is_kept else "secret_unreadable"
            yield found(code, f"{place}: {error.message}", subject=key, remedy=error.remedy)
            continue
        if secret is None:
            remedy = _store_command(reference) if is_kept else "set it, or write another reference"
            yield found(
                "secret_missing", f"{place} refers to {reference}, which is not set", subject=key, remedy=remedy
            )
    yield Fact("keyring", name_keyring() or "none")


def _list_references(site: Site) -> Iterator[tuple[str, str]]:
    for key in site.project.loaded.origins:
        leaf = find(tuple(key.split(".")))
        if isinstance(leaf, Leaf) and leaf.is_sensitive:
            value: object = site.project.settings
            for name in leaf.path:
                value = getattr(value, name, None)
            if isinstance(value, str) and is_reference(value):
                yield key, value


def _store_command(reference: str) -> str:
    service, _, user = reference.removeprefix("keyring:").partition("/")
    return f"python -m keyring set {service} {user or 'default'}"
