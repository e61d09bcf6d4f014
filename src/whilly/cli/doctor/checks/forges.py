"""Forges and trackers that the settings name: whether they are there, and take the token."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said
from whilly.domain.errors import ConfigError, NotAuthorized, PortError
from whilly.transport.http.client import Patience

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.bootstrap.places import Places
    from whilly.cli.doctor.site import Site

BRIEF = Patience(total_s=8, request_s=5, tries=1)


async def look_at_forges(site: Site) -> Iterable[Said]:
    """Ask each of them who we are, all at the same time."""
    project = site.project
    said = await asyncio.gather(
        *(_look(project.places, name) for name in [*project.settings.forges, *project.settings.trackers])
    )
    return [each for group in said for each in group]


async def _look(places: Places, name: str) -> list[Said]:
    kind = "tracker" if places.is_tracker_only(name) else "forge"
    try:
        connected = places.connect(name, BRIEF)
    except ConfigError as error:
        return [found("forge_unusable", error.message, subject=name, remedy=error.remedy)]
    remedy = "unset it where Whilly is started, or take it out of the settings"
    said: list[Said] = [
        found("token_shadowed", f"{kind} {name}: {warning}", subject=name, remedy=remedy)
        for warning in connected.warnings
    ]
    try:
        async with connected:
            standing = await connected.endpoint.probe()
    except PortError as error:
        code = "forge_refuses" if isinstance(error, NotAuthorized) else "forge_unreachable"
        return [*said, found(code, f"{kind} {name}: {error.message}", subject=name, remedy=error.remedy)]
    version = f" {standing.version}" if standing.version else ""
    said.append(
        Fact(
            f"forge.{name}",
            f"{connected.place.provider}{version} at {connected.place.url}, as {standing.account.login}",
        )
    )
    if standing.missing:
        what = f"{kind} {name}: the token lacks {', '.join(standing.missing)}"
        said.append(
            found("forge_token_weak", what, subject=name, remedy=f"make one that has it: {places.token_remedy(name)}")
        )
    return said
