"""`--fix`: mend what can be mended, alone in the repository, and look again until nothing more comes up."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.checks.table import CHECKS
from whilly.cli.doctor.examine import examine
from whilly.cli.doctor.finding import Finding
from whilly.cli.doctor.isolate import Asked, Silence, Surprise
from whilly.cli.doctor.mend import MENDS
from whilly.cli.doctor.site import open_site
from whilly.cli.run_lock import find_owner, hold_lock
from whilly.domain.errors import ConfigError, WhillyError

if TYPE_CHECKING:
    from pathlib import Path

    from whilly.cli.doctor.site import Site

LIMIT_S = 120.0
"""Seconds that one step may take: a supervisor that does not react is given its patience first."""
_ROUNDS = 4
_OWN_NAME = "doctor --fix"
_MENDING = [check for check in CHECKS if check.has_mends]


@dataclass(slots=True)
class Treatment:
    """What was done.

    Attributes:
        done: what was mended, and in words what was done.
        failed: what could not be mended, and why.
        refusal: why nothing was touched.
    """

    done: list[tuple[Finding, str]] = field(default_factory=list)
    failed: list[tuple[Finding, str]] = field(default_factory=list)
    refusal: Finding | None = None


def treat(directory: Path) -> Treatment:
    """Mend the place around `directory`, unless a Whilly is alive there."""
    treatment = Treatment()
    site = open_site(directory)
    if site.owner is not None:
        treatment.refusal = _refuse(site)
        return treatment
    todo = examine(site, _MENDING).mendable()
    if not todo:
        return treatment
    try:
        if not site.project.state.exists():
            site.project.prepare_state()
        with hold_lock(site.project.state, (_OWN_NAME,), site.project.clock.now()):
            # Whoever reads the record of a dead run now reads ours, and finds none in the rounds.
            record = [finding for finding in todo if finding.code == "run_record_stale"]
            _work_off(directory, treatment, record)
    except ConfigError as error:
        if find_owner(site.project.state) is not None:
            treatment.refusal = _refuse(open_site(directory))
        else:
            treatment.failed += [(finding, error.message) for finding in todo]
    except OSError as error:
        treatment.failed += [(finding, f"{site.project.state}: {error.strerror or error}") for finding in todo]
    return treatment


def _refuse(site: Site) -> Finding:
    owner = site.owner
    who = f"process {owner.pid} on {owner.host}, since {owner.started_at}" if owner else "somebody"
    remedy = "wait for it, or end it with Ctrl-C where it runs"
    return found("whilly_at_work", f"nothing was mended: whilly is at work here ({who})", remedy=remedy)


def _work_off(directory: Path, treatment: Treatment, todo: list[Finding]) -> None:
    """Rounds, because one thing mended may show another: a ledger that can be read knows which runs there are."""
    tried: set[tuple[str, str]] = set()
    for _ in range(_ROUNDS):
        site = open_site(directory, is_ours=True)
        todo += examine(site, _MENDING).mendable()
        fresh = [finding for finding in todo if (finding.code, finding.subject) not in tried]
        if not fresh:
            return
        for finding in sorted(fresh, key=lambda each: list(MENDS).index(each.code)):
            tried.add((finding.code, finding.subject))
            _mend(site, finding, treatment)
        todo = []


def _mend(site: Site, finding: Finding, treatment: Treatment) -> None:
    match Asked(partial(MENDS[finding.code], site, finding), LIMIT_S).answer():
        case Silence(seconds):
            treatment.failed.append((finding, f"it was not done within {seconds:g} s"))
        case Surprise(WhillyError() as error):
            treatment.failed.append((finding, str(error)))
        case Surprise(error):
            treatment.failed.append((finding, f"{type(error).__name__}: {error}"))
        case did:
            treatment.done.append((finding, did))
