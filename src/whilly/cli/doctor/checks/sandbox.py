"""The tier that agents can be held in, as an attack on the sandbox shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.cli.doctor.catalogue import found
from whilly.cli.doctor.finding import Fact, Said
from whilly.domain.confinement import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whilly.cli.doctor.site import Site


async def look_at_sandbox(site: Site) -> Iterable[Said]:
    """Attack it."""
    project = site.project
    proof = await project.sandbox.prove()
    if proof.tier is Tier.CONTAINED:
        held = Fact("tier", f"{proof.tier}: the sandbox denied {len(proof.denied)} attacks")
        return [held, Fact("limits", proof.limits)]
    what = proof.problem or f"the sandbox does not hold: {', '.join(proof.escapes)}"
    remedy = proof.remedy or "report it, and set agent.isolation = 'open' for work that you trust"
    if Tier.CONTAINED not in {project.tier, *project.agent_tiers.values()}:
        return [Fact("tier", f"{proof.tier}: {what} → {remedy}")]
    return [Fact("tier", str(proof.tier)), found("sandbox_unusable", what, remedy=remedy)]
