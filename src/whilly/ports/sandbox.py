"""Sandbox: holds a process that is not trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whilly.domain.confinement import Confinement, Proof
    from whilly.domain.session import Launch


class Sandbox(Protocol):
    """Turns a process to be started into one that reaches only what it was given."""

    def contain(self, launch: Launch, confinement: Confinement) -> Launch:
        """The same process inside the sandbox; free of side effects. It ends with everything that it started.

        Its environment is what `launch` says and nothing else, but for `PATH`, `HOME` and the names of its user. Its
        exit code, output and reaction to signals are those of the process itself.

        Raises:
            ConfigError: this machine has no sandbox, or the program is not there.
        """
        ...

    async def prove(self) -> Proof:
        """Attack the sandbox of this machine from inside, and say what it holds."""
        ...
