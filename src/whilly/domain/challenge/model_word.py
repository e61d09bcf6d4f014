"""What a model says against a piece of work, for `review.conclude`; it is added to what the rules found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from whilly.domain.challenge.finding import MODEL, Kind, Objection, Severity
from whilly.domain.challenge.principles import PRINCIPLES
from whilly.domain.text.clean import clean
from whilly.domain.trust.strict_json import MAX_ENTRIES, is_text

if TYPE_CHECKING:
    from collections.abc import Collection

_FIELDS: Final = frozenset({"kind", "severity", "pieces", "text", "advice", "principles"})


def read_objections(entries: object, pieces: Collection[str]) -> tuple[Objection, ...] | str:
    """The objections in a model's answer; otherwise why the answer cannot be used.

    Args:
        entries: `[{"kind", "severity", "pieces", "text", "advice", "principles"}]` and nothing else.
        pieces: the ids that there are.
    """
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        return f"objections has to be a list of at most {MAX_ENTRIES} entries"
    for number, each in enumerate(entries, start=1):
        if fault := _find_fault(each, pieces):
            return f"objection {number}: {fault}"
    return tuple(map(_make, entries))


def _find_fault(each: object, pieces: Collection[str]) -> str:
    if not isinstance(each, dict) or each.keys() != _FIELDS:
        return f"its keys have to be {', '.join(sorted(_FIELDS))}"
    faults = {
        "there is no such kind": each["kind"] not in list(Kind),
        "there is no such severity": each["severity"] not in list(Severity),
        "pieces has to name what it is about": not _is_among(each["pieces"], pieces) or not each["pieces"],
        "text and advice have to be short texts": not is_text(each["text"]) or not is_text(each["advice"]),
        "principles are numbers from 1 to 40": not _is_among(each["principles"], range(1, len(PRINCIPLES) + 1)),
    }
    return next((fault for fault, is_so in faults.items() if is_so), "")


def _is_among(values: object, known: Collection[object]) -> bool:
    return isinstance(values, list) and all(type(each) in {int, str} and each in known for each in values)


def _make(each: dict[str, Any]) -> Objection:
    text, advice = (" ".join(clean(each[name]).split()) for name in ("text", "advice"))
    return Objection(
        kind=Kind(each["kind"]),
        severity=Severity(each["severity"]),
        pieces=tuple(each["pieces"]),
        text=text,
        advice=advice,
        principles=tuple(each["principles"]),
        found_by=MODEL,
    )
