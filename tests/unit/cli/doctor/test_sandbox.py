from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.doctor.conftest import Clinic

BROKEN = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"


def test_the_tier_that_the_attack_proves_is_named(clinic: Clinic, bubblewrap: str) -> None:
    clinic.monkeypatch.setenv("PATH", f"{clinic.programs}:{bubblewrap}")
    said = clinic.look()
    assert said.report["facts"]["tier"].startswith("contained: the sandbox denied ")
    assert "rlimits" in said.report["facts"]["limits"] or "control group" in said.report["facts"]["limits"]
    assert said.report["facts"]["isolation"].startswith("open: ")
    clinic.write({"whilly.toml": "[agent]\nisolation = 'contained'\n"})
    said = clinic.look()
    assert said.report["facts"]["isolation"].startswith("contained: ")
    assert "sandbox_unusable" not in said.codes


def test_a_sandbox_that_cannot_be_made_is_a_problem_once_it_is_wanted(clinic: Clinic) -> None:
    clinic.program("bwrap", BROKEN)
    said = clinic.look()
    assert "No permissions" in said.report["facts"]["tier"] or "sandbox" in said.report["facts"]["tier"]
    assert "sandbox_unusable" not in said.codes
    clinic.write({"whilly.toml": "[agent]\nisolation = 'contained'\n"})
    said = clinic.look()
    assert "sandbox_unusable" in said.codes
    assert said.code == 1


@pytest.mark.parametrize("isolation", ["open", "contained"])
def test_where_it_is_missing_the_remedy_is_named(clinic: Clinic, isolation: str) -> None:
    clinic.monkeypatch.setenv("PATH", str(clinic.programs))
    clinic.write({"whilly.toml": f"[agent]\nisolation = '{isolation}'\n"})
    code, text = clinic.read()
    assert "apt install bubblewrap" in text
    assert (code == 1) == (isolation == "contained"), text
