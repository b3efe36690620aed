"""Nothing of the machine's own settings is seen here: no keys, no addresses, no proxies, no `heald.toml`."""

import os
from pathlib import Path

import pytest

_ENDINGS = ("_API_KEY", "_BASE_URL", "_PROXY", "_CA_BUNDLE", "_HOST", "_ENDPOINT")


@pytest.fixture(autouse=True)
def clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().endswith(_ENDINGS) or name.startswith("SSL_CERT"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
