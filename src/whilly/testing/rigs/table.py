"""All rigs, by the kind of agent that they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whilly.testing.rigs.claude import ClaudeRig
from whilly.testing.rigs.codex import CodexRig
from whilly.testing.rigs.gemini import GeminiRig
from whilly.testing.rigs.opencode import OpencodeRig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.testing.rigs.rig import Rig

RIGS: Mapping[str, Rig] = {rig.name: rig for rig in (ClaudeRig(), CodexRig(), GeminiRig(), OpencodeRig())}
