"""A value that must not be shown."""

from __future__ import annotations

from typing import final

from typing_extensions import override


@final
class Secret:
    """Wraps a secret so that printing, logging or formatting it shows its length only."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself: only where it is about to be used."""
        return self._value

    @override
    def __repr__(self) -> str:
        return f"<redacted: {len(self._value)} chars>" if self._value else "<unset>"

    @override
    def __str__(self) -> str:
        return repr(self)

    @override
    def __format__(self, spec: str, /) -> str:
        return format(repr(self), spec)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    @override
    def __hash__(self) -> int:
        return hash(("Secret", self._value))
