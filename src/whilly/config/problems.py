"""What is wrong with a configuration: every fault with its place, all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from whilly.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault, or one thing worth a warning.

    Attributes:
        place: where it was written: `whilly.toml:12`, `WHILLY_MAX_PARALLEL`, `--budget`.
        message: what is wrong, and what was expected.
        remedy: what to do; empty when the message says it all.
    """

    place: str
    message: str
    remedy: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.place}: {self.message}" + (f" → {self.remedy}" if self.remedy else "")


class InvalidConfiguration(ConfigError):
    """The configuration has faults; all of them are listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__(f"{count} in the configuration:\n" + "\n".join(f"  {problem}" for problem in self.problems))
