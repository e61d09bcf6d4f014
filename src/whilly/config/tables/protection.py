"""Settings that keep the machine usable."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from whilly.config.tables.fields import Section
from whilly.domain.machine import GIB, Thresholds

Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class MachineSettings(Section):
    """When agents have to wait for the machine. It never ends one, whoever uses what is short."""

    guarded: bool = Field(default=True, description="Start fewer agents while something of the machine is short.")
    max_cpu_percent: Percent = Field(
        default=90,
        description="How busy the processors may be for a further agent to start; one may always. 0 is no limit.",
    )
    max_memory_percent: Percent = Field(
        default=90, description="How much of the memory may be in use for an agent to start; 0 is no limit."
    )
    min_free_disk_gb: float = Field(
        default=1,
        ge=0,
        le=10**6,
        allow_inf_nan=False,
        description="GiB that must be free where the work is for an agent to start; 0 is no limit.",
    )

    def thresholds(self) -> Thresholds:
        """The same, as shares and bytes."""
        if not self.guarded:
            return Thresholds()
        return Thresholds(
            max_cpu=self.max_cpu_percent / 100 or None,
            max_memory=self.max_memory_percent / 100 or None,
            min_disk=int(self.min_free_disk_gb * GIB) or None,
        )
