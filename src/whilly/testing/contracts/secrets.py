"""The contract of the Secrets port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret
from whilly.testing.contracts.suite import ContractSuite

if TYPE_CHECKING:
    from whilly.ports.secrets import Secrets


class SecretsContract(ContractSuite):
    """Override the fixture `secrets`: in it `env:SET` is `from-env`, and all else is unset."""

    def test_a_reference_gives_its_secret_wrapped(self, secrets: Secrets) -> None:
        found = secrets.resolve("env:SET")
        assert found == Secret("from-env")
        assert "from-env" not in f"{found} {found!r}"

    @pytest.mark.parametrize("reference", ["env:UNSET", "keyring:whilly/nobody", "keyring:whilly", "file:/no/such"])
    def test_what_is_not_set_is_none(self, secrets: Secrets, reference: str) -> None:
        assert secrets.resolve(reference) is None

    @pytest.mark.parametrize("reference", ["", "ghp_verysecret", "vault:a/b", "env", "keyring"])
    def test_what_is_no_reference_is_refused_without_being_shown(self, secrets: Secrets, reference: str) -> None:
        with pytest.raises(ConfigError) as caught:
            secrets.resolve(reference)
        assert "verysecret" not in str(caught.value)

    def test_what_is_stored_is_found_and_can_be_replaced(self, secrets: Secrets) -> None:
        secrets.store("whilly", "github", "one")
        secrets.store("whilly", "github", "two")
        assert secrets.resolve("keyring:whilly/github") == Secret("two")
        assert secrets.resolve("keyring:whilly/jira") is None
