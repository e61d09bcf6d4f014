"""All checks at once: what each says, and that one that fails or hangs hides nothing of the others."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Finding, Report, Said
from whilly.cli.doctor.isolate import Asked, Silence, Surprise
from whilly.domain.errors import WhillyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whilly.cli.doctor.checks.table import Check
    from whilly.cli.doctor.site import Site

_REPORT = "run `whilly --debug doctor` and report what it shows"


def examine(site: Site, checks: Sequence[Check]) -> Report:
    """What these checks say about the site, those that make sense there."""
    wanted = [check for check in checks if site.is_repository or not check.needs_repository]
    asked = [(check, Asked(partial(_look, check, site), check.limit)) for check in wanted]
    said = [each for check, question in asked for each in _hear(check, question)]
    facts = tuple(each for each in said if isinstance(each, Fact))
    return Report(facts, tuple(each for each in said if isinstance(each, Finding)))


async def _look(check: Check, site: Site) -> tuple[Said, ...]:
    said = check.look(site)
    return tuple(await said) if isinstance(said, Awaitable) else tuple(said)


def _hear(check: Check, question: Asked[tuple[Said, ...]]) -> tuple[Said, ...]:
    match question.answer():
        case Silence(seconds):
            what = f"the check of {check.name} did not end within {seconds:g} s"
            remedy = "look at the load and the disks of this machine, then run it again"
            return (found("check_unfinished", what, subject=check.name, remedy=remedy),)
        case Surprise(WhillyError() as error):
            what = f"the check of {check.name} failed: {error.message}"
            return (found("check_failed", what, subject=check.name, remedy=error.remedy or _REPORT),)
        case Surprise(error):
            what = f"the check of {check.name} failed: {type(error).__name__}: {error}"
            return (found("check_failed", what, subject=check.name, remedy=_REPORT),)
        case said:
            return said
