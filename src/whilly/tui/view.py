"""What a run shows while it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from types import TracebackType

    from whilly.application.telling.progress import Progress


class View(Protocol):
    """Shows progress. To be used in a `with` block: whatever happens inside, the terminal is left as it was found.

    All calls are cheap, may be made several times a second, and never fail because nobody reads.
    """

    def show(self, progress: Progress) -> None:
        """Where the plan stands now."""
        ...

    def finish(self, progress: Progress, exit_code: int, report: str) -> None:
        """Work on the plan has ended; `report` is the path of its report, empty if there is none."""
        ...

    def __enter__(self) -> Self:
        """Begin to show."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was found."""
        ...
