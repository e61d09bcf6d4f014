"""The stage `check_prd`: whether the document is there, and says everything that it has to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from whilly.domain.attempt import AttemptResult, Evidence, Outcome
from whilly.domain.prd.document import Fault, find_faults
from whilly.domain.prd.parse import MAX_CHARACTERS, parse_prd
from whilly.domain.text.clean import clean

if TYPE_CHECKING:
    from whilly.application.attempt_context import AttemptContext
    from whilly.application.prd.order import Order
    from whilly.domain.flow.brief import Brief

MAX_OUTPUT: Final = 8_000


async def check_document(brief: Brief, _context: AttemptContext, order: Order) -> AttemptResult:
    """Completed when nothing is wrong with the document in the run's commit; otherwise rejected, with every fault."""
    text = await read_document(brief, order)
    faults = _find_faults(order, text)
    if not faults:
        return AttemptResult(Outcome.COMPLETED, commit=brief.run.head)
    summary = f"{order.idea.document}: {tell_fault(faults[0])}"
    summary += f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
    evidence = Evidence(
        summary,
        output="\n".join(f"{tell_fault(each)} → {each.remedy}" for each in faults)[:MAX_OUTPUT],
        fingerprint=f"prd:{sorted(map(tell_fault, faults))}",
        paths=(order.idea.document,),
    )
    return AttemptResult(Outcome.REJECTED, summary, commit=brief.run.head, evidence=evidence)


async def read_document(brief: Brief, order: Order) -> str | None:
    """The document of the run's commit, without what a person would not see; None when there is none."""
    if brief.run.head is None:
        return None
    text = await order.documents.read(brief.run.head, order.idea.document)
    return None if text is None else clean(text)


def tell_fault(fault: Fault) -> str:
    """A fault in one line, without its remedy."""
    return f"{fault.where}: {fault.what}"


def _find_faults(order: Order, text: str | None) -> list[Fault]:
    if text is None:
        remedy = f"write the text to {order.idea.document}; git may be ignoring it: git add --force"
        return [Fault("document", "there is no such file in the commit", remedy)]
    if len(text) > MAX_CHARACTERS:
        what = f"it has {len(text):,} characters, and at most {MAX_CHARACTERS:,} are read"
        return [Fault("document", what, "say the same in fewer words")]
    return find_faults(parse_prd(text))
