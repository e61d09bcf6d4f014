"""The plan file that an import goes into, before and after."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whilly.adapters.planfile.document import Document, read
from whilly.adapters.planfile.parse import parse
from whilly.cli.render_error import printable
from whilly.domain.errors import ConfigError, RuleViolation
from whilly.domain.intake.plan_merge import Task
from whilly.domain.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.adapters.planfile.problem import Problem
    from whilly.bootstrap import Project
    from whilly.domain.ids import ItemId
    from whilly.domain.work_item import ItemStatus, WorkItem


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file as it is now.

    Attributes:
        data: None when there is no such file yet.
        plan: None when there is none, or no task in it.
    """

    path: Path
    data: bytes | None
    plan: Plan | None

    def tasks(self, statuses: Mapping[ItemId, ItemStatus]) -> list[Task]:
        """The tasks of the plan.

        Args:
            statuses: those of the ledger, which count more than the file's.
        """
        if self.plan is None or self.data is None:
            return []
        raw = {each["id"]: each for each in json.loads(self.data.decode("utf-8-sig"))["tasks"]}
        return [
            Task(item, statuses.get(item.id, self.plan.statuses[item.id]), _find_url(item, raw[item.id]))
            for item in self.plan.items
        ]


def open_plan(project: Project, path: Path | None) -> PlanFile:
    """The plan file of this name, which need not exist.

    Raises:
        ConfigError: it cannot be read, or is broken.
    """
    path = (path or project.root / "tasks.json").absolute()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if not path.parent.is_dir():
            message = f"the plan file {path} cannot be written: there is no folder {path.parent}"
            raise ConfigError(message, remedy=f"mkdir -p {path.parent}") from None
        return PlanFile(path, None, None)
    except OSError as error:
        message = f"the plan file {path} cannot be read: {error.strerror}"
        raise ConfigError(message, remedy="check its permissions, or name another file: --plan FILE") from error
    if _has_no_tasks(data):
        return PlanFile(path, data, None)
    parsed = parse(data, path, project.root)
    if parsed.plan is None:
        _tell([each for each in parsed.problems if each.is_error])
        message = f"the plan file {path} is broken; nothing was imported"
        raise ConfigError(message, remedy="mend what is listed above, or name another file: --plan FILE")
    return PlanFile(path, data, parsed.plan)


def require_valid(project: Project, path: Path, data: bytes) -> None:
    """Check that these bytes would be a plan.

    Raises:
        RuleViolation: they would not; what is wrong was printed.
    """
    parsed = parse(data, path, project.root)
    if parsed.plan is None:
        _tell([each for each in parsed.problems if each.is_error])
        message = f"with these issues {path.name} would be no valid plan; nothing was written"
        raise RuleViolation(message, remedy="mend the issues that are named above, and import again")


def require_same(file: PlanFile) -> None:
    """Check that nobody has written the file while the issues were read.

    Raises:
        RuleViolation: somebody has.
    """
    now = file.path.read_bytes() if file.path.exists() else None
    if now != file.data:
        message = f"somebody has changed {file.path.name} while the issues were read; nothing was written"
        raise RuleViolation(message, remedy="import again")


def _find_url(item: WorkItem, raw: Mapping[str, object]) -> str:
    """The address of a task's issue; one importer of the predecessor wrote it into fields of its own."""
    texts = (item.prd_requirement, raw.get("github_url"), raw.get("jira_url"))
    return next((text for text in texts if isinstance(text, str) and "://" in text), "")


def _has_no_tasks(data: bytes) -> bool:
    """Whether it is a plan file in which an empty list waits for its tasks."""
    document = read(data)
    root = document.root.value if isinstance(document, Document) else None
    return isinstance(root, dict) and "tasks" in root and root["tasks"].node.value == []


def _tell(problems: list[Problem]) -> None:
    for problem in problems:
        click.echo(printable(str(problem)), err=True)
