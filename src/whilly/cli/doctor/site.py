"""What the doctor looks at: a machine, and usually a repository on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from whilly.application.survey import LedgerState, Survey
from whilly.bootstrap import Project, pass_by
from whilly.cli.doctor.isolate import Asked, Silence, Surprise
from whilly.cli.run_lock import Owner, find_owner
from whilly.config.environment import find_root, process_environment
from whilly.config.layers import Loaded, load_settings
from whilly.config.problems import InvalidConfiguration, Problem
from whilly.config.settings import Settings
from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

LEDGER_S = 8.0
"""Seconds that the ledger has to answer; shorter than the limit of the checks that need it."""


@dataclass(frozen=True)
class Site:
    """One place, as it was when it was opened.

    Attributes:
        project: outside of a repository its root is the current directory, and only its settings mean something.
        problems: what is wrong with the configuration; then the defaults stand for it.
        owner: the `whilly run` that is alive here.
        is_ours: this very process holds that one's place, so that nobody else begins.
        ledger: asked for when the site was opened.
    """

    project: Project
    is_repository: bool
    problems: tuple[Problem, ...]
    owner: Owner | None
    is_ours: bool
    ledger: Asked[Survey]

    @property
    def survey(self) -> Survey:
        """The ledger, or why nothing is known about it."""
        match self.ledger.answer():
            case Survey() as survey:
                return survey
            case Silence(seconds):
                return Survey(LedgerState.UNREADABLE, f"it does not answer within {seconds:g} s")
            case Surprise(error):
                return Survey(LedgerState.UNREADABLE, f"{type(error).__name__}: {error}")

    @property
    def is_settled(self) -> bool:
        """Whether everything that no run of the ledger needs is a leftover: nobody works, and the ledger is known."""
        return self.is_repository and self.owner is None and self.survey.is_known


def open_site(directory: Path, *, is_ours: bool = False) -> Site:
    """The place around `directory`; never fails for what is wrong with it.

    Args:
        directory: where the command was given.
        is_ours: this very process holds the lock of the repository's `whilly run`.
    """
    root = find_root(directory)
    loaded, problems = _load(root or directory)
    project = Project(root or directory, loaded, pass_by)
    owner = None if is_ours or root is None else find_owner(project.state)
    ask = partial(survey_ledger, project, is_valid=root is not None and not problems)
    return Site(project, root is not None, problems, owner, is_ours, Asked(ask, LEDGER_S))


async def survey_ledger(project: Project, *, is_valid: bool) -> Survey:
    """What the ledger is like, without making one."""
    if not is_valid:
        return Survey(LedgerState.UNKNOWN)
    if not project.has_ledger:
        return Survey(LedgerState.ABSENT)
    from whilly.engine.inspection.ledger import survey_ledger as survey  # noqa: PLC0415  (costs 0.2 s)

    try:
        return survey(project.database_url)
    except ConfigError as error:
        return Survey(LedgerState.UNREADABLE, error.message)


def _load(root: Path) -> tuple[Loaded, tuple[Problem, ...]]:
    try:
        return load_settings(root), ()
    except InvalidConfiguration as error:
        return Loaded(Settings(), {}, (), process_environment()), error.problems
