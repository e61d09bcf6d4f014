"""A report for people, and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import FIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from whilly.cli.doctor.finding import Fact, Finding, Report
    from whilly.cli.doctor.treat import Treatment

SCHEMA = 1
"""Of the JSON object; it changes only when a key is taken away or means something else."""

_VERSIONS = {"whilly": "whilly", "python": "Python", "git": "git", "sqlite": "SQLite"}


def render_text(report: Report, treatment: Treatment) -> Iterator[str]:
    """Line by line: what is there, what was mended, what was found."""
    yield from _render_facts(report.facts)
    for finding, did in treatment.done:
        if did:
            yield f"mended: {did}  [{finding.code}]"
    for finding, reason in treatment.failed:
        yield f"not mended: {finding.what}: {reason}  [{finding.code}]"
    for finding in report.findings:
        yield ""
        yield f"{finding.severity}: {finding.what}  [{finding.code}]"
        yield f"  why: {finding.why}"
        yield f"  → {finding.remedy}"
    yield ""
    yield _summarize(report)


def _render_facts(facts: Iterable[Fact]) -> Iterator[str]:
    known = {fact.name: fact.text for fact in facts}
    yield ", ".join(f"{shown} {known[name]}" for name, shown in _VERSIONS.items() if name in known)
    for name, text in known.items():
        if name not in _VERSIONS:
            yield f"{name.replace('.', ' ')}: {text}"


def _summarize(report: Report) -> str:
    if not report.findings:
        return "nothing found"
    counts = (_count(report.problems, "problem"), _count(len(report.findings) - report.problems, "note"))
    said = ", ".join(count for count in counts if count)
    mendable = len(report.mendable())
    return said + (f"; `{FIX}` mends {mendable} of them" if mendable else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""


def report_as_json(report: Report, treatment: Treatment, directory: Path) -> dict[str, object]:
    """The same as one object."""
    return {
        "schema": SCHEMA,
        "directory": str(directory),
        "problems": report.problems,
        "notes": len(report.findings) - report.problems,
        "facts": {fact.name: fact.text for fact in report.facts},
        "findings": [_as_json(finding) for finding in report.findings],
        "mended": [
            {"code": finding.code, "subject": finding.subject, "did": did} for finding, did in treatment.done if did
        ],
        "not_mended": [
            {"code": finding.code, "subject": finding.subject, "reason": reason} for finding, reason in treatment.failed
        ],
    }


def _as_json(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "subject": finding.subject,
        "what": finding.what,
        "why": finding.why,
        "remedy": finding.remedy,
        "fixable": finding.is_mendable,
    }
