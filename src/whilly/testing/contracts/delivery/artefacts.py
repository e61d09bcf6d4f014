"""The contract of the Artefacts port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.domain.ids import RunId
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.delivery.artefacts import Artefacts

RUN = RunId("issue-12-abc-1")
OTHER = RunId("issue-12-abc-2")


class ArtefactsContract(ContractSuite):
    """Override the fixture `artefacts`; it is empty at first."""

    async def test_what_is_saved_is_found_again_as_it_was(self, artefacts: Artefacts) -> None:
        document = {"title": "Žluťoučký \u202e\0 ", "parts": [1, 2.5, None, True], "more": {"a": []}}
        where = await artefacts.save(RUN, "issue_spec", document)
        assert await artefacts.load(RUN, "issue_spec") == document
        assert "issue_spec" in where

    async def test_each_run_has_its_own(self, artefacts: Artefacts) -> None:
        await artefacts.save(RUN, "plan", {"of": "the first"})
        assert await artefacts.load(OTHER, "plan") is None
        assert await artefacts.load(RUN, "readiness") is None

    async def test_saved_again_it_is_the_new_one(self, artefacts: Artefacts) -> None:
        await artefacts.save(RUN, "plan", {"long": "x" * 10_000})
        await artefacts.save(RUN, "plan", {"short": "y"})
        assert await artefacts.load(RUN, "plan") == {"short": "y"}

    async def test_what_was_given_may_change_afterwards(self, artefacts: Artefacts) -> None:
        document: dict[str, object] = {"parts": [1]}
        await artefacts.save(RUN, "plan", document)
        document["parts"] = []
        assert await artefacts.load(RUN, "plan") == {"parts": [1]}
