from __future__ import annotations

import pytest
from typing_extensions import override

from whilly.testing.contracts import ContractSuite


class _Suite(ContractSuite):
    def test_case(self) -> None: ...


def test_a_suite_may_be_widened() -> None:
    class Wider(_Suite):
        def test_more(self) -> None: ...

    assert hasattr(Wider, "test_case")


def test_a_case_cannot_be_replaced_silently() -> None:
    with pytest.raises(TypeError, match="test_case"):

        class Hollow(_Suite):
            @override
            def test_case(self) -> None: ...


def test_a_case_cannot_be_removed() -> None:
    with pytest.raises(TypeError, match="test_case"):
        type("Hollow", (_Suite,), {"test_case": None})


def test_a_case_may_be_expected_to_fail_for_a_reason() -> None:
    class Honest(_Suite):
        @pytest.mark.xfail(reason="the provider has no such thing")
        @override
        def test_case(self) -> None: ...

    assert issubclass(Honest, _Suite)
