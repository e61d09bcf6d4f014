"""What models cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from whilly.config.tables.fields import Dollars, Section

if TYPE_CHECKING:
    from decimal import Decimal


class PriceTable(Section):
    """What a model costs, in US dollars for a million tokens; what is not set is as packaged, if the model is known."""

    input: Dollars | None = Field(default=None, description="Input that was not cached.")
    output: Dollars | None = Field(default=None, description="Output, thoughts included.")
    cache_read: Dollars | None = Field(
        default=None, description="Input read from a cache; without any price it is like other input."
    )
    cache_write: Dollars | None = Field(
        default=None, description="Input put into a cache; without any price it is like other input."
    )

    def rates(self) -> dict[str, Decimal]:
        """What is set, and nothing else."""
        return self.model_dump(exclude_none=True)
