"""Keys on a machine without a keyring: a private file, encrypted where the environment has a secret."""

import stat
from pathlib import Path

import pytest

from heald.core.errors import ConfigurationError
from heald.providers.key_file import SECRET_VARIABLE, key_file_path
from heald.providers.key_store import delete_key, key_place, missing_keyring, read_key, store_key, stored_key_names
from heald.providers.keys import find_key, find_key_origin, keyring_problem

KEY = "sk-of-a-person-0123456789"
OTHER = "sk-of-another-9876543210"
NAME = "ANTHROPIC_API_KEY"


@pytest.fixture(autouse=True)
def without_keyring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.setattr("heald.providers.key_store._has_keyring", lambda: False)
    read_key.cache_clear()


def test_a_key_is_stored_in_a_file_of_its_owner() -> None:
    assert missing_keyring() == "the package keyring is not installed"
    assert key_place() == "file"
    assert store_key(NAME, KEY) == "file"
    assert stat.S_IMODE(key_file_path().stat().st_mode) == 0o600
    assert find_key((NAME,)) == KEY
    assert find_key_origin((NAME,)) == (NAME, "file")
    assert delete_key(NAME) is True
    assert delete_key(NAME) is False
    assert find_key((NAME,)) is None


def test_a_secret_encrypts_all_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    store_key("OPENAI_API_KEY", OTHER)
    assert OTHER in key_file_path().read_text()
    monkeypatch.setenv(SECRET_VARIABLE, "correct horse")
    assert store_key(NAME, KEY) == "encrypted_file"
    text = key_file_path().read_text()
    assert KEY not in text
    assert OTHER not in text
    assert (find_key((NAME,)), find_key(("OPENAI_API_KEY",))) == (KEY, OTHER)


def test_a_wrong_or_missing_secret_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setenv(SECRET_VARIABLE, "correct horse")
    store_key(NAME, KEY)
    monkeypatch.setenv(SECRET_VARIABLE, "battery staple")
    read_key.cache_clear()
    assert find_key((NAME,)) is None
    assert "cannot be decrypted with the secret in HEALD_KEYS_SECRET" in keyring_problem((NAME,))
    monkeypatch.delenv(SECRET_VARIABLE)
    read_key.cache_clear()
    assert "set HEALD_KEYS_SECRET" in keyring_problem((NAME,))
    assert stored_key_names() == (NAME,)


def test_an_encrypted_key_works_under_its_own_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setenv(SECRET_VARIABLE, "correct horse")
    store_key(NAME, KEY)
    key_file_path().write_text(key_file_path().read_text().replace(NAME, "OPENAI_API_KEY"))
    read_key.cache_clear()
    assert find_key(("OPENAI_API_KEY",)) is None


def test_a_file_that_others_may_read_is_refused() -> None:
    store_key(NAME, KEY)
    key_file_path().chmod(0o644)
    read_key.cache_clear()
    assert find_key((NAME,)) is None
    with pytest.raises(ConfigurationError, match="chmod 600"):
        store_key("OPENAI_API_KEY", OTHER)


def test_a_damaged_file_is_never_replaced() -> None:
    store_key(NAME, KEY)
    key_file_path().write_text("{")
    with pytest.raises(ConfigurationError, match="is not a valid file of keys"):
        store_key(NAME, KEY)
    assert key_file_path().read_text() == "{"


def test_the_backend_is_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package alone is not a keyring: on a headless system its backend refuses every key."""
    keyring = pytest.importorskip("keyring")
    fail = pytest.importorskip("keyring.backends.fail")
    monkeypatch.setattr("heald.providers.key_store._has_keyring", lambda: True)
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    try:
        assert missing_keyring() == "this system has no keyring"
        assert store_key(NAME, KEY) == "file"
        assert find_key((NAME,)) == KEY
    finally:
        keyring.set_keyring(before)
