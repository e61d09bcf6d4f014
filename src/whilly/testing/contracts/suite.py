"""What all contract suites have in common: they cannot be hollowed out."""

from __future__ import annotations

from typing_extensions import override


class ContractSuite:
    """Parent of the suites of the ports.

    A subclass may add cases. To replace or switch off an inherited one it has to mark its own version with
    `pytest.mark.xfail(reason="…")`, so that the gap stays visible in every report; anything else is a `TypeError`
    when the class is made.
    """

    @override
    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for parent in cls.__mro__[1:]:
            if not (issubclass(parent, ContractSuite) and parent is not ContractSuite):
                continue
            for name in vars(parent):
                if name.startswith("test_") and getattr(cls, name) is not vars(parent)[name]:
                    _require_reason(cls, name)


def _require_reason(cls: type, name: str) -> None:
    marks = getattr(getattr(cls, name), "pytestmark", ())
    if not any(mark.name == "xfail" and mark.kwargs.get("reason") for mark in marks):
        message = f"{cls.__qualname__} replaces the contract case {name} without an xfail that gives the reason"
        raise TypeError(message)
