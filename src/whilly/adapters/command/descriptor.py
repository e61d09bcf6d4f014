"""AgentDescriptor: everything that tells one agent CLI from another, as data (TOML)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whilly.adapters.command.template import Argument, find_placeholders
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


HYGIENE = "{hygiene}"


class AgentDescriptor(BaseModel):
    """One agent CLI."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str = Field(min_length=1, description="What people call it in settings and plans.")
    label: str = Field(default="", description="What views show; empty is the name.")
    argv: tuple[Argument, ...] = Field(
        min_length=1, description="The command line; a list inside it is left out when a placeholder in it is empty."
    )
    program: str = Field(default="", description="Name or path of the program; empty is the first argument.")
    native: tuple[str, ...] = Field(
        default=(),
        description=(
            "Patterns of files, seen from the folder of the program (links resolved): the first one that can be run is "
            "started instead of a program that would only start it and stay beside it."
        ),
    )
    bridge: Literal["", "acp"] = Field(
        default="", description="What stands between Whilly and the agent: nothing, or the Agent Client Protocol."
    )
    model: str = Field(default="", description="The model when nothing else names one; empty leaves it to the agent.")
    extra_args: tuple[str, ...] = Field(default=(), description="More arguments, as they are, put last.")
    output: Literal["text", "jsonl", "claude", "codex", "gemini", "opencode"] = Field(
        default="text",
        description="How to read standard output: plain text, Whilly's JSON lines, or as that agent writes it.",
    )
    cost: Literal["unknown", "free", "reported", "tokens"] = Field(
        default="unknown",
        description=(
            "What a session costs: unknown, nothing, what the output says, or its tokens by the price table (`prices`)."
        ),
    )
    hygiene: tuple[str, ...] = Field(
        default=(),
        description=(
            "Arguments that keep the repository's own settings, hooks, servers and plugins from running; they stand "
            "for the argument `{hygiene}`."
        ),
    )
    hygiene_env: Mapping[str, str] = Field(default_factory=dict, description="Variables for the same purpose.")
    runs_plugins: bool = Field(
        default=False, description="Whether code that the repository has for it runs whatever the hygiene says."
    )
    trust: bool = Field(
        default=False, description="Let the repository's own settings for the agent count: leave the hygiene out."
    )
    safe: bool = Field(default=False, description="Which of the two `permissions` is in force.")
    permissions: Mapping[Literal["free", "safe"], str] = Field(
        default_factory=dict, description="The values of the placeholder {permission}."
    )
    env_pass: tuple[str, ...] = Field(default=(), description="More variables that it may see; `NAME*` is a prefix.")
    env_set: Mapping[str, str] = Field(
        default_factory=dict, description="Variables that it is given, with `{placeholders}`."
    )
    env_set_as_root: Mapping[str, str] = Field(default_factory=dict, description="The same, only when run by root.")
    gateway: Mapping[Literal["api", "url_env", "key_env", "upstream"], str] = Field(
        default_factory=dict,
        description=(
            "How a contained agent reaches its model: the protocol (`anthropic`, `openai`, `google`), the variables of "
            "the address and the key, and the service's address unless the first variable says it."
        ),
    )
    gateways: Mapping[str, Mapping[Literal["api", "url_env", "key_env", "upstream"], str]] = Field(
        default_factory=dict,
        description=(
            "The same for an agent that knows many services: by the provider, which its models' names begin with "
            "(`provider/model`)."
        ),
    )
    gateway_args: tuple[str, ...] = Field(
        default=(),
        description=(
            "More arguments for a contained agent, with `{gateway}` (its address), `{base}` (that and the version), "
            "`{key_env}`, `{provider}` and `{model}`."
        ),
    )
    gateway_files: Mapping[str, str] = Field(
        default_factory=dict,
        description="Files for a contained agent, with the same words: a path (`~/` is its home) and the text.",
    )
    version_args: tuple[str, ...] = Field(default=("--version",), description="Arguments that make it say its version.")
    login_env: tuple[str, ...] = Field(default=(), description="Variables of which one is enough to be logged in.")
    login_files: tuple[str, ...] = Field(
        default=(), description="A file that shows a login: the first one here whose `$NAME` variables are all set."
    )
    own_tmp: bool = Field(
        default=False, description="Give each session a temporary folder of its own, which is removed afterwards."
    )
    files: Mapping[str, tuple[Argument, ...]] = Field(
        default_factory=dict,
        description=(
            "Files that are written before a session: a path and the pieces of its text, both with `{placeholders}`; "
            "a list among the pieces is left out when a placeholder in it is empty."
        ),
    )
    links: Mapping[str, str] = Field(
        default_factory=dict,
        description="Links that are made before a session: a path with `{placeholders}`, and a target with `$NAME`s.",
    )
    login_modes: Mapping[str, str] = Field(
        default_factory=dict,
        description="The value of `{login_mode}`: by the first variable that is set, else that of `default`.",
    )
    install: str = Field(default="", description="The command that installs it.")
    login: str = Field(default="", description="The command that mends a missing login.")

    @property
    def command(self) -> tuple[Argument, ...]:
        """The command line with the arguments for hygiene in their place."""
        inserted = () if self.trust else self.hygiene
        return tuple(each for part in self.argv for each in (inserted if part == HYGIENE else (part,)))

    @property
    def placeholders(self) -> frozenset[str]:
        """The names in the command line's braces."""
        return find_placeholders(self.command)

    @property
    def known(self) -> frozenset[str]:
        """The names that the agent gets to know: in its command line, its variables or its files."""
        pieces = (piece for text in self.files.values() for piece in text)
        return self.placeholders | find_placeholders((*self.env_set.values(), *pieces))

    @property
    def can_resume(self) -> bool:
        """Whether the command line has a place for the session to go on with."""
        return bool(self.placeholders & {"resume", "session"})


def parse_descriptor(name: str, table: Mapping[str, object]) -> AgentDescriptor:
    """The descriptor in this table, checked.

    Raises:
        ConfigError: it is not one; all that is wrong is named, with the nearest known names.
    """
    try:
        descriptor = AgentDescriptor.model_validate({"name": name, **table})
    except ValidationError as error:
        wrong = "; ".join(_explain(tuple(each["loc"]), each["type"], each["msg"]) for each in error.errors())
        message = f"agents.{name}: {wrong}"
        raise ConfigError(message) from error
    texts = {
        "argv": descriptor.command,
        "env_set": tuple(descriptor.env_set.values()),
        "files": (*descriptor.files, *(piece for pieces in descriptor.files.values() for piece in pieces)),
        "links": tuple(descriptor.links),
    }
    for key, text in texts.items():
        try:
            find_placeholders(text)
        except ConfigError as error:
            message = f"agents.{name}.{key}: {error.message}"
            raise ConfigError(message, remedy=error.remedy) from error
    return descriptor


def load_descriptor(path: Path, changes: Mapping[str, object] | None = None) -> AgentDescriptor:
    """The descriptor in a TOML file, with some keys changed; services are added to those that it knows.

    Raises:
        ConfigError: it is not one.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    name = str(table.pop("name"))
    changed = {**table, **(changes or {})}
    if isinstance(table.get("gateways"), dict) and isinstance(changed["gateways"], Mapping):
        changed["gateways"] = {**table["gateways"], **changed["gateways"]}
    return parse_descriptor(name, changed)


def _explain(place: tuple[int | str, ...], kind: str, message: str) -> str:
    where = ".".join(str(part) for part in place)
    if kind != "extra_forbidden":
        return f"{where}: {message}"
    near = get_close_matches(str(place[-1]), AgentDescriptor.model_fields, n=1)
    return f"unknown key {where}" + (f", did you mean {near[0]}?" if near else "")
