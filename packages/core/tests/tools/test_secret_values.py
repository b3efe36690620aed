"""Which values are hidden: by name, by length, and by how random they look."""

import pytest

from heald.tools.secret_values import (
    ENVIRONMENT,
    SecretValue,
    environment_values,
    file_values,
    is_distinctive,
    is_secret_name,
)

SECRET_NAMES = [
    "PGPASSWORD", "DB_PASS", "GH_PAT", "SECRET_KEY_BASE", "STRIPE_SK", "SLACK_WEBHOOK_URL", "SENTRY_DSN",
    "AWS_SECRET_ACCESS_KEY", "clientSecret", "auth.token", "DB_PWD", "MYSQL_ROOT_PASSWORD", "JWT", "npm_auth",
    "GITHUB_TOKEN", "HEALD_TOKEN", "OPENAI_API_KEY", "REDIS_PASSPHRASE", "apiKey", "private-key",
]  # fmt: skip
PLAIN_NAMES = [
    "PATH",
    "HOME",
    "KEYBOARD",
    "MONKEY",
    "COMPASS",
    "PASSENGER",
    "PATTERN",
    "DISK",
    "AUTHOR",
    "NODE_ENV",
    "PORT",
]
COMMON = [
    "true", "localhost", "postgres", "5432", "127.0.0.1:5432", "development", "changeme", "my_project", "hunter2",
    "/run/secrets/db", "./certs/server", "2026-01-31", "${OTHER_SECRET}", "<your key>", "********", "db.example.com",
]  # fmt: skip
DISTINCTIVE = [
    "tr0ub4dor&3",
    "sk_live_4eC39HqLyjWDarjt",
    "correct horse battery staple",
    "p@ssw0rd!",
    "5f4dcc3b5aa765d61d8327de",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize("value", COMMON)
def test_a_common_value_is_not_hidden_everywhere(value: str) -> None:
    assert not is_distinctive(value, is_named=True)


@pytest.mark.parametrize("value", DISTINCTIVE)
def test_a_distinctive_value_is(value: str) -> None:
    assert is_distinctive(value, is_named=True)


def test_a_value_of_any_name_must_look_random() -> None:
    assert is_distinctive("5f4dcc3b5aa765d61d8327deb882cf99", is_named=False)
    assert is_distinctive("ghp_0123456789abcdefghij", is_named=False)
    for value in ("tr0ub4dor&3", "a.person2@example.com", "eu-west-1.example2.com", "correct horse battery staple"):
        assert not is_distinctive(value, is_named=False)


def test_values_of_the_environment() -> None:
    values = environment_values(
        {
            "PGPASSWORD": "tr0ub4dor&3",
            "DATABASE_URL": "postgresql://app:s3cr3t%2Fpass@db/app",
            "SENTRY_DSN": "https://5f4dcc3b5aa765d61d8327deb882cf99@o1.ingest.example/2",
            "SLACK_WEBHOOK_URL": "https://hooks.example/services/T0000/B000/XyZ123",
            "ODBC": "Server=db;Uid=app;Pwd=odbc-p4ss-word;",
            "SOME_NAME": "ghp_0123456789abcdefghij",
            "SSH_AUTH_SOCK": "/tmp/agent.1",
            "TOKEN_URL": "https://login.example/token",
            "BUILD": "5f4dcc3b5aa765d61d8327deb882cf00",
            "HOME": "/root",
        }
    )
    texts = {value.text: value.name for value in values}
    assert texts == {
        "tr0ub4dor&3": "PGPASSWORD",
        "s3cr3t%2Fpass": "DATABASE_URL",
        "s3cr3t/pass": "DATABASE_URL",
        "5f4dcc3b5aa765d61d8327deb882cf99": "SENTRY_DSN",
        "/services/T0000/B000/XyZ123": "SLACK_WEBHOOK_URL",
        "odbc-p4ss-word": "ODBC",
        "ghp_0123456789abcdefghij": "SOME_NAME",
    }
    assert {value.source for value in environment_values({"GH_PAT": "ghp_0123456789abcdefghij"})} == {ENVIRONMENT}


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        (".env", "export STRIPE_SK='sk_live_4eC39HqLyj'  # live", "sk_live_4eC39HqLyj"),
        (".env", "STRIPE_SK=sk_live_4eC39HqLyj # live", "sk_live_4eC39HqLyj"),
        (".env", 'A="two words 2"\nDB_PASSWORD="two words 2"', "two words 2"),
        ("secrets.yaml", "db:\n  password: tr0ub4dor&3\n", "tr0ub4dor&3"),
        ("credentials.json", '{"client": {"client_secret": "tr0ub\\"4dor&3"}}', 'tr0ub"4dor&3'),
        (".netrc", "machine example.org login me password tr0ub4dor&3\n", "tr0ub4dor&3"),
        (".pgpass", "db:5432:app:me:tr0ub4dor&3\n", "tr0ub4dor&3"),
        (".npmrc", "//registry.example/:_authToken=npm_tr0ub4dor3\n", "npm_tr0ub4dor3"),
        (".git-credentials", "https://me:tr0ub4dor&3@github.example\n", "tr0ub4dor&3"),
        (".vault-token", "hvs.CAESIJ0aZ5cBrm7QwE\n", "hvs.CAESIJ0aZ5cBrm7QwE"),
        (".aws/credentials", "[default]\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG\n", "wJalrXUtnFEMI/K7MDENG"),
        ("id_rsa", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1\n-----END RSA", "MIIEpAIBAAKCAQEA1"),
        (".env", 'K="-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1\n-----END"', "MIIEpAIBAAKCAQEA1"),
    ],
)  # fmt: skip
def test_values_of_files(path: str, text: str, value: str) -> None:
    assert value in [secret.text for secret in file_values(text, path) if not secret.before]


def test_a_value_that_is_not_distinctive_is_hidden_behind_its_name_only() -> None:
    text = "PORT=5432\nDB_PASSWORD=letmein\nexport DB_PIN='hunter2'\nDB_USER=postgres\nDEBUG=true\nDB_PASS=postgres\n"
    values = list(file_values(text, ".env"))
    assert SecretValue("letmein", "DB_PASSWORD", ".env", "DB_PASSWORD=") in values
    assert {value.text for value in values} == {"letmein", "hunter2"}
    assert all(value.before for value in values)


def test_certificates_are_no_secrets() -> None:
    block = "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA1\n-----END CERTIFICATE-----\n"
    assert list(file_values(f"# a name\n{block}{block}", "cacert.pem")) == []
