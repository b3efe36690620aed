"""Passwords of stores come from the URL or the environment, and are known to the log so that it can hide them."""

from pathlib import Path

import pytest

from heald.core.errors import ConfigurationError
from heald.sessions.store_url import password_of, split_urls, store_secrets, with_password, without_password


def test_a_password_is_added_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("s3cret/@\n")
    url = with_password("postgresql://heald@db/heald?x=1", {"HEALD_STORE_PASSWORD_FILE": str(file)})
    assert url == "postgresql://heald:s3cret%2F%40@db/heald?x=1"
    assert password_of(url) == "s3cret/@"
    assert without_password(url) == "postgresql://heald@db/heald"
    assert with_password(url, {"HEALD_STORE_PASSWORD": "other"}) == url
    with pytest.raises(ConfigurationError, match="needs a user"):
        with_password("postgresql://db/heald", {"HEALD_STORE_PASSWORD": "x"})
    with pytest.raises(ConfigurationError, match="cannot be read"):
        with_password("postgresql://heald@db/heald", {"HEALD_STORE_PASSWORD_FILE": str(tmp_path / "none")})


def test_all_passwords_of_a_store_are_hidden_from_logs(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from-file\n")
    environment = {
        "HEALD_STORE_PASSWORD": "from-variable",
        "PGPASSWORD": "of-the-driver",
        "HEALD_STORE_PASSWORD_FILE": str(file),
    }
    urls = ("postgresql://heald:s3cret%2F%40@db/heald", None, "nats://broker")
    assert store_secrets(*urls, environment=environment) == ["s3cret/@", "from-variable", "of-the-driver", "from-file"]


def test_a_password_file_that_cannot_be_read_is_reported_when_the_store_opens(tmp_path: Path) -> None:
    environment = {"HEALD_STORE_PASSWORD_FILE": str(tmp_path / "none")}
    assert store_secrets("sqlite:///x.db", environment=environment) == []


def test_a_list_of_databases_shows_no_password() -> None:
    urls = ["postgresql://heald:one@a,b:5433/heald?sslmode=require", "postgres://heald:two@c/heald"]
    joined = ", ".join(urls)
    assert split_urls(joined) == urls
    assert split_urls(urls[0]) == urls[:1]
    assert without_password(joined) == "postgresql://heald@a,b:5433/heald,postgres://heald@c/heald"
    assert store_secrets(joined, environment={}) == ["one", "two"]
