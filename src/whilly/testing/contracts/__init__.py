"""One suite per port: a class to inherit, with one fixture to override, that every adapter of the port passes.

An adapter's test is `class TestMyClock(ClockContract)` with a fixture `clock`; each suite names its fixture.
"""

from __future__ import annotations

from whilly.testing.contracts.agent import AgentCase, AgentContract
from whilly.testing.contracts.answers import AnswersContract, AnswersRig, PullAnswersContract, PullAnswersRig
from whilly.testing.contracts.checks import ChecksContract
from whilly.testing.contracts.clock import ClockContract
from whilly.testing.contracts.forge import ForgeContract, ForgeRig
from whilly.testing.contracts.handoffs import HandoffsContract, HandoffsRig
from whilly.testing.contracts.machine import MachineContract
from whilly.testing.contracts.repository import RepositoryContract
from whilly.testing.contracts.sandbox import SandboxContract
from whilly.testing.contracts.secrets import SecretsContract
from whilly.testing.contracts.sessions import SessionsContract, SessionsRig
from whilly.testing.contracts.suite import ContractSuite
from whilly.testing.contracts.tracker import TrackerContract, TrackerRig
from whilly.testing.contracts.workspace import WorkspaceContract
from whilly.testing.contracts.world import RepositoryWorld

__all__ = [
    "AgentCase",
    "AgentContract",
    "AnswersContract",
    "AnswersRig",
    "ChecksContract",
    "ClockContract",
    "ContractSuite",
    "ForgeContract",
    "ForgeRig",
    "HandoffsContract",
    "HandoffsRig",
    "MachineContract",
    "PullAnswersContract",
    "PullAnswersRig",
    "RepositoryContract",
    "RepositoryWorld",
    "SandboxContract",
    "SecretsContract",
    "SessionsContract",
    "SessionsRig",
    "TrackerContract",
    "TrackerRig",
    "WorkspaceContract",
]
