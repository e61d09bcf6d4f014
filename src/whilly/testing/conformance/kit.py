"""Running scenarios against one agent CLI."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from whilly.domain.errors import WhillyError
from whilly.testing.conformance.scenarios import SCENARIOS
from whilly.testing.conformance.verdict import Cannot, Mark, Misfit, Verdict
from whilly.transport.jsonlines import cut_line

if TYPE_CHECKING:
    from whilly.testing.conformance.bench import Bench


async def examine(name: str, bench: Bench) -> Verdict:
    """The verdict of one scenario, on a bench of its own."""
    began = time.monotonic()
    try:
        mark, said = Mark.HOLDS, await SCENARIOS[name](bench)
    except Cannot as lack:
        mark, said = Mark.CANNOT, str(lack)
    except Misfit as misfit:
        mark, said = Mark.FAILS, str(misfit)
    except WhillyError as error:
        mark, said = Mark.FAILS, str(error)
    return Verdict(name, mark, cut_line(said, 300), time.monotonic() - began)
