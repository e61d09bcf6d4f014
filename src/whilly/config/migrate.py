"""Settings out of `.env`: plain ones into `whilly.toml`, secrets into the keyring.

The plan is a value and shows everything before anything happens. Every step leaves a state in which the settings
mean the same: first the keyring, then the TOML file, and only then are the lines taken out of `.env`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whilly.config.edit import render_value, set_values, write_atomically
from whilly.config.layers import DOTENV_FILE, REPOSITORY_FILE
from whilly.config.problems import InvalidConfiguration, Problem
from whilly.config.schema import Leaf
from whilly.config.secrets import GITHUB_USER, JIRA_USER, SERVICE, ReferencedSecrets
from whilly.config.sources import (
    Binding,
    Entry,
    Layer,
    Origin,
    Reading,
    parse_dotenv,
    rank_variable,
    read_text,
    read_toml_text,
    read_variable,
)
from whilly.config.values import is_reference
from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret

if TYPE_CHECKING:
    from pathlib import Path

_USERS: Mapping[str, str] = {"github.token": GITHUB_USER, "jira.token": JIRA_USER}
_SHORTEST_SECRET = 4
SHARED_NAMES = frozenset({"GITHUB_TOKEN", "JIRA_API_TOKEN", "JIRA_SERVER_URL", "JIRA_USERNAME", "CLAUDE_BIN"})
"""Names that other programs may read too."""


@dataclass(frozen=True, slots=True)
class Move:
    """A variable of `.env` that becomes a setting.

    Attributes:
        name: the variable.
        value: of the setting, as the model holds it; a reference for a secret.
        secret: what goes into the keyring; None for a plain setting.
        replaces: the different value that `whilly.toml` has now, as TOML; empty when there is none.
    """

    name: str
    leaf: Leaf
    value: object
    secret: Secret | None = None
    replaces: str = ""

    @property
    def user(self) -> str:
        """The secret's place in the keyring, under the service `whilly`."""
        return _USERS[self.leaf.key]

    @property
    def slot(self) -> str:
        """The reference to that place."""
        return f"keyring:{SERVICE}/{self.user}"


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """What a migration would do.

    Attributes:
        kept: what stays in `.env` although it looks like Whilly's: variable → why.
        toml_before: the text of `whilly.toml`; None when there is none.
        plaintext: where a secret can still be read afterwards: `.env:4`, `.env.local:1`.
    """

    moves: tuple[Move, ...]
    kept: Mapping[str, str]
    toml_before: str | None
    toml_after: str
    dotenv_before: str
    dotenv_after: str
    plaintext: tuple[str, ...] = field(default=())

    @property
    def conflicts(self) -> tuple[Move, ...]:
        """The moves that would replace a different value in `whilly.toml`."""
        return tuple(move for move in self.moves if move.replaces)


def plan_migration(dotenv: str, toml: str | None, others: Mapping[str, str]) -> MigrationPlan:
    """What moving the settings out of `.env` would do.

    Args:
        dotenv: the text of `.env`.
        toml: the text of `whilly.toml`; None when there is none.
        others: name → text of the files beside `.env` that may hold copies of its secrets.

    Raises:
        InvalidConfiguration: `whilly.toml` is not valid TOML.
    """
    bindings = list(parse_dotenv(dotenv))
    # In a `.env` the last of several lines with the same name counts.
    last = {binding.name: binding for binding in bindings if binding.name and binding.value is not None}
    present = {entry.leaf.key: entry for entry in read_toml_text(toml or "", Layer.REPOSITORY, REPOSITORY_FILE).entries}
    moves: dict[str, Move] = {}
    gone: set[str] = set()
    kept: dict[str, str] = {}
    for name in sorted(last, key=rank_variable, reverse=True):
        found = _classify(last[name], present)
        if isinstance(found, str):
            kept[name] = found
        elif found is not None and _contradicts(found, winner := moves.setdefault(found.leaf.key, found)):
            kept[name] = f"{winner.name} says something else and wins"
        elif found is not None:
            gone.add(name)
    after = "".join(binding.text for binding in bindings if binding.name not in gone)
    secrets = [move.secret for move in moves.values() if move.secret]
    return MigrationPlan(
        moves=tuple(moves.values()),
        kept=kept,
        toml_before=toml,
        toml_after=set_values(toml or "", [(move.leaf, move.value) for move in moves.values()]),
        dotenv_before=dotenv,
        dotenv_after=after,
        plaintext=tuple(_find_copies(secrets, {DOTENV_FILE: after, **others})),
    )


def read_files(root: Path) -> tuple[str | None, str | None, dict[str, str]]:
    """The texts of `.env` and `whilly.toml` (None: not there), and of the files beside `.env` named like it.

    Raises:
        InvalidConfiguration: one of the two cannot be read.
    """
    problems: list[Problem] = []
    dotenv, toml = (
        read_text(root / name, name, problems) if (root / name).exists() else None
        for name in (DOTENV_FILE, REPOSITORY_FILE)
    )
    if problems:
        raise InvalidConfiguration(problems)
    others = {
        path.name: path.read_bytes().decode(errors="replace")
        for path in sorted(root.glob(f"{DOTENV_FILE}?*"))
        if path.is_file()
    }
    return dotenv, toml, others


def migrate_settings(
    plan: MigrationPlan, root: Path, secrets: ReferencedSecrets, write: Callable[[Path, str], None] = write_atomically
) -> None:
    """Do what the plan says; when a step fails, everything is put back as it was.

    Raises:
        ConfigError: a file has changed since the plan was made, the keyring does not keep the secrets, or a file
            cannot be written.
    """
    if read_files(root)[:2] != (plan.dotenv_before, plan.toml_before):
        message = "The files have changed since the preview"
        raise ConfigError(message, remedy="run it again")
    with ExitStack() as undo:
        for move in plan.moves:
            if move.secret is not None:
                _keep(move, move.secret, secrets, undo)
        undo.callback(_restore, root / REPOSITORY_FILE, plan.toml_before, write)
        write(root / REPOSITORY_FILE, plan.toml_after)
        write(root / DOTENV_FILE, plan.dotenv_after)
        undo.pop_all()


def _keep(move: Move, secret: Secret, secrets: ReferencedSecrets, undo: ExitStack) -> None:
    before = secrets.resolve(move.slot)
    undo.callback(_restore_secret, move, before, secrets)
    secrets.store(SERVICE, move.user, secret.reveal())
    # Some backends take everything and keep nothing.
    if secrets.resolve(move.slot) != secret:
        message = f"The keyring did not keep {SERVICE}/{move.user}"
        raise ConfigError(message, remedy="see `python -m keyring diagnose`")


def _restore_secret(move: Move, before: Secret | None, secrets: ReferencedSecrets) -> None:
    if before is not None:
        secrets.store(SERVICE, move.user, before.reveal())
        return
    with suppress(ConfigError):  # it was not there, and still is not
        secrets.forget(SERVICE, move.user)


def _restore(path: Path, text: str | None, write: Callable[[Path, str], None]) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        write(path, text)


def _classify(binding: Binding, present: Mapping[str, Entry]) -> Move | str | None:
    """What becomes of one variable; why it must stay, as text; None when it is not Whilly's."""
    name, value = binding.name, binding.value or ""
    if name == "GITHUB_TOKEN" and "github.token" in present:
        # Whilly itself never reads this one, so what whilly.toml says is what counts.
        return "github.token is set already; take the line out if nothing else needs it"
    reading = Reading()
    read_variable("WHILLY_GH_TOKEN" if name == "GITHUB_TOKEN" else name, value, Origin(Layer.DOTENV), reading)
    for problem in (*reading.problems, *reading.warnings):
        return problem.message.removeprefix(f"{name} ") + (f"; {problem.remedy}" if problem.remedy else "")
    if not reading.entries:
        return None
    (entry,) = reading.entries
    try:
        parsed = entry.parse()
    except ValueError as error:
        return str(error)
    leaf = entry.leaf
    if leaf.is_secret and value and not is_reference(value):
        move = Move(name, leaf, f"keyring:{SERVICE}/{_USERS[leaf.key]}", Secret(value))
    else:
        move = Move(name, leaf, parsed)
    return _with_replaced(move, present.get(leaf.key))


def _with_replaced(move: Move, present: Entry | None) -> Move:
    if present is None:
        return move
    try:
        value = present.parse()
    except ValueError:
        value = present.value
    # A reference to the very variable that moves is no other opinion.
    if value in {move.value, f"env:{move.name}"} if isinstance(value, str) else value == move.value:
        return move
    shown = "another value" if move.leaf.is_sensitive and not is_reference(str(value)) else render_value(value)
    return Move(move.name, move.leaf, move.value, move.secret, replaces=shown)


def _contradicts(one: Move, other: Move) -> bool:
    return (one.value, one.secret) != (other.value, other.secret)


def _find_copies(secrets: list[Secret], texts: Mapping[str, str]) -> Iterator[str]:
    values = [secret.reveal() for secret in secrets if len(secret.reveal()) >= _SHORTEST_SECRET]
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if any(value in line for value in values):
                yield f"{name}:{number}"
