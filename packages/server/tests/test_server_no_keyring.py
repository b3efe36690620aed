"""A server on a machine without a keyring: a program can tell by the code why a key was not stored."""

import pytest

from heald.providers.key_store import NoKeyring, store_key
from heald_server.http.errors import api_error_of


def test_a_key_that_no_keyring_keeps_has_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald.providers.key_store._has_keyring", lambda: False)
    with pytest.raises(NoKeyring) as raised:
        store_key("OPENAI_API_KEY", "sk-test")
    error = api_error_of(raised.value)
    assert error is not None
    assert (error.code, error.status) == ("no_keyring", 409)
    assert error.message.startswith("The keyring of the system needs a package")
