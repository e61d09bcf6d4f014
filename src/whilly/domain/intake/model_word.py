"""What a model says about an issue's readiness: it may add questions and assumptions, and takes none away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from whilly.domain.intake.rules import MODEL, Finding
from whilly.domain.text.clean import clean
from whilly.domain.trust.strict_json import MAX_ENTRIES, is_text

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS: Final = frozenset({"missing_information", "assumptions"})


def read_findings(told: Mapping[str, object]) -> tuple[Finding, ...] | str:
    """The findings in a model's answer, for `readiness.weigh`; otherwise why the answer cannot be used.

    Args:
        told: `{"missing_information": [{"text": "…", "question": "…"}], "assumptions": ["…"]}`, and what others read.
    """
    missing, assumed = told["missing_information"], told["assumptions"]
    if not isinstance(missing, list) or not isinstance(assumed, list):
        return "missing_information and assumptions have to be lists"
    if len(missing) + len(assumed) > MAX_ENTRIES:
        return f"missing_information and assumptions have more than {MAX_ENTRIES} entries"
    if not all(map(_is_missing, missing)):
        return "an entry of missing_information is not of the form that was asked for"
    if not all(map(is_text, assumed)):
        return "an entry of assumptions is no short text"
    asked = [_make(each["text"], each["question"]) for each in missing]
    return (*asked, *(_make(each) for each in assumed))


def _is_missing(each: object) -> bool:
    return isinstance(each, dict) and each.keys() == {"text", "question"} and all(map(is_text, each.values()))


def _make(text: Any, question: Any = "") -> Finding:  # noqa: ANN401  (the caller has seen that both are texts)
    plain, asked = (" ".join(clean(str(each)).split()) for each in (text, question))
    return Finding(MODEL, blocks=bool(asked), text=plain, question=asked)
