"""The table of the contained tier."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from whilly.config.tables.fields import AbsolutePath, HostName, RepositoryPath, Section
from whilly.domain.trust.policy import VERDICTS

Count = Annotated[int, Field(ge=0)]


class ContainedSettings(Section):
    """What contained agents and checks may reach and use; it counts with `agent.isolation = "contained"`."""

    user: str = Field(
        default="", description="Whom they run as for root; empty is `whilly-agent` if there is one, else `nobody`."
    )
    read: tuple[AbsolutePath, ...] = Field(
        default=(), description="More files and directories that they may read, such as tools outside of `/usr`."
    )
    hosts: tuple[HostName, ...] = Field(
        default=(),
        description="Hosts that agents may reach by a proxy, `name` (port 443) or `name:port`; checks reach none.",
    )
    always_accept: tuple[RepositoryPath, ...] = Field(
        default=(),
        description=(
            "Paths, directories or globs that any task may change without a person looking at it (`whilly accept` is "
            "for one change)."
        ),
    )
    verdict_names: tuple[str, ...] = Field(
        default=VERDICTS,
        description=(
            "Names or globs of files, in any folder, that agents may not touch, as they would pass for the word of a "
            "reviewer or a tester."
        ),
    )
    memory_mb: Count = Field(default=8192, description="Megabytes of memory that each of them may use; 0 is no limit.")
    processes: Count = Field(default=512, description="Processes that each of them may have; 0 is no limit.")
    file_mb: Count = Field(default=2048, description="Megabytes of one file that they write; 0 is no limit.")
    disk_mb: Count = Field(default=10240, description="Megabytes that each may add to its checkout; 0 is no limit.")
