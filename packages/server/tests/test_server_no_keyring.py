"""A server on a machine without a keyring stores keys in a file; a keyring that refuses a key has a code."""

from pathlib import Path

import pytest

from heald.providers.key_store import NoKeyring, read_key, store_key
from heald_server.http.errors import api_error_of


def test_a_server_without_a_keyring_stores_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("heald.providers.key_store._has_keyring", lambda: False)
    read_key.cache_clear()
    assert store_key("OPENAI_API_KEY", "sk-test") == "file"
    assert read_key("OPENAI_API_KEY") == ("sk-test", "")
    read_key.cache_clear()


def test_a_key_that_the_keyring_refuses_has_a_code() -> None:
    error = api_error_of(NoKeyring("The key cannot be stored: the keyring of the system reports KeyringLocked."))
    assert error is not None
    assert (error.code, error.status) == ("no_keyring", 409)
