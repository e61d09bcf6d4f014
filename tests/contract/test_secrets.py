from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from keyring.backends import fail

from whilly.adapters.memory.secrets import MemorySecrets
from whilly.config.secrets import ReferencedSecrets, reference_or_text
from whilly.domain.errors import ConfigError
from whilly.domain.secret import Secret
from whilly.testing.contracts import SecretsContract
from whilly.testing.keyring import MemoryKeyring

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from keyring.backend import KeyringBackend

    from whilly.ports.secrets import Secrets


class TestMemorySecrets(SecretsContract):
    @pytest.fixture
    def secrets(self) -> Secrets:
        return MemorySecrets({"env:SET": "from-env"})


class TestReferencedSecrets(SecretsContract):
    @pytest.fixture
    def secrets(self) -> Secrets:
        keyring = MemoryKeyring()
        return ReferencedSecrets({"SET": "from-env", "EMPTY": ""}, keyring=lambda: keyring)


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def referenced(keyring: MemoryKeyring) -> ReferencedSecrets:
    return ReferencedSecrets({"EMPTY": ""}, keyring=lambda: keyring)


def test_a_file_holds_its_stripped_text(referenced: ReferencedSecrets, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("  päss\n", encoding="utf-8")
    assert referenced.resolve(f"file:{tmp_path / 'token'}") == Secret("päss")


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_that_cannot_be_read_says_which_and_why(
    referenced: ReferencedSecrets, tmp_path: Path, content: bytes | None
) -> None:
    place = tmp_path / "token"
    place.mkdir() if content is None else place.write_bytes(content)
    with pytest.raises(ConfigError, match=r"token cannot be read: (Is a directory|it is not UTF-8)"):
        referenced.resolve(f"file:{place}")


def test_a_service_alone_means_its_default_user(referenced: ReferencedSecrets, keyring: MemoryKeyring) -> None:
    keyring.set_password("whilly", "default", "x")
    assert referenced.resolve("keyring:whilly") == Secret("x")


def test_an_empty_secret_is_not_set(referenced: ReferencedSecrets) -> None:
    assert referenced.resolve("env:EMPTY") is None


def test_a_locked_keyring_is_a_configuration_error_with_a_way_out(
    referenced: ReferencedSecrets, keyring: MemoryKeyring
) -> None:
    keyring.is_locked = True
    uses: tuple[Callable[[], object], ...] = (
        lambda: referenced.resolve("keyring:whilly/github"),
        lambda: referenced.store("whilly", "github", "verysecret"),
        lambda: referenced.forget("whilly", "github"),
    )
    for use in uses:
        with pytest.raises(ConfigError, match="locked") as caught:
            use()
        assert "env:NAME" in caught.value.remedy
        assert "verysecret" not in str(caught.value)


def test_a_machine_without_a_keyring_says_so() -> None:
    no_keyring: KeyringBackend = fail.Keyring()  # type: ignore[no-untyped-call]  # keyring leaves it unannotated
    with pytest.raises(ConfigError, match="cannot read whilly/github") as caught:
        ReferencedSecrets({}, keyring=lambda: no_keyring).resolve("keyring:whilly/github")
    assert "python -m keyring diagnose" in caught.value.remedy


def test_plain_text_stands_for_itself_where_a_reference_is_optional(referenced: ReferencedSecrets) -> None:
    assert reference_or_text("sqlite:///x.db", referenced) == "sqlite:///x.db"
    with pytest.raises(ConfigError, match="env:DATABASE is not set"):
        reference_or_text("env:DATABASE", referenced)
