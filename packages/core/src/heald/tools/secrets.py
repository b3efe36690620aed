"""Recognises files that hold secrets, and hides secret values in what tools return.

Two things are hidden: values of environment variables of this process whose names mark them as secret, in every
result; and the values in a file that holds secrets, in the results of tools that read it. A model, the log and every
client get the mark instead. A tool that writes refuses the mark, so that it never replaces a value.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import PurePosixPath

import msgspec

from heald.core.lazy import lazy_pattern
from heald.core.messages import Text
from heald.tools.tool_output import Parts

HIDDEN = "[hidden by Heald]"
"""Stands for a secret value."""
_SHORTEST = 12
"""Characters of a value that is searched for: shorter ones occur by chance."""

_NAMES = frozenset(
    {
        ".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
        ".dockercfg", ".vault-token", ".my.cnf", ".s3cfg", ".boto", "credentials", "credentials.json",
        "credentials.toml", "application_default_credentials.json", "secrets.json", "secrets.yaml", "secrets.yml",
        "secrets.toml", "service-account.json", "service_account.json", "kubeconfig", "id_rsa", "id_dsa", "id_ecdsa",
        "id_ed25519", "terraform.tfvars", "terraform.tfstate",
    }
)  # fmt: skip
_SUFFIXES = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfvars")
_PATHS = (".aws/config", ".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".cargo/credentials.toml")
_EXAMPLES = ("example", "sample", "template", "dist", "defaults")
"""Ends of names such as `.env.example`, which hold no secrets."""

_SECRET_NAME = lazy_pattern(
    r"(?i)(?:^|[_-])(?:api[_-]?key|access[_-]?key|key|token|secret|passwd|password|passphrase|credentials?|auth)"
    r"(?:[_-](?:id|value))?$"
)
_ASSIGNED = lazy_pattern(r"(?m)^(\s*(?:\d+\s*[\t|:→]\s*)?(?:export\s+)?[\w.\-:/]+\s*[=:]\s*)(?!\[hidden)(\S[^\n]*)$")
_JSON_TEXT = lazy_pattern(r'("[^"\n]{1,100}"\s*:\s*)"((?:[^"\\\n]|\\.){8,})"')
_NETRC = lazy_pattern(r"(?i)\b(password|account)(\s+)(\S+)")
_KEY_BLOCK = lazy_pattern(r"(-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----).*?(-----END|\Z)", re.DOTALL)


def is_secret_file(path: str) -> bool:
    """Whether a file holds secrets, by its name."""
    parts = PurePosixPath(path.replace("\\", "/").casefold())
    name = parts.name
    if name.rpartition(".")[2] in _EXAMPLES:
        return False
    return (
        name in _NAMES
        or name.startswith(".env.")
        or name.endswith((*_SUFFIXES, ".env"))
        or any(str(parts).endswith(suffix) for suffix in _PATHS)
    )


def names_secret_file(command: str) -> bool:
    """Whether a word of a command line is the name of a file that holds secrets."""
    return any(is_secret_file(word) for word in re.split(r"[\s'\"=:;|&<>(){},]+", command) if word)


def hide_file_values(text: str) -> str:
    """Hide the values in the text of a file that holds secrets; the names stay."""
    text = _KEY_BLOCK.sub(rf"\1\n{HIDDEN}\n\2", text)
    text = _JSON_TEXT.sub(rf'\1"{HIDDEN}"', text)
    text = _NETRC.sub(rf"\1\2{HIDDEN}", text)
    return _ASSIGNED.sub(rf"\1{HIDDEN}", text)


class SecretMask:
    """Hides known values."""

    def __init__(self, values: Iterable[str]) -> None:
        secrets = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(value) for value in secrets)) if secrets else None
        self._values = secrets

    def hide(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def held_back(self, text: str) -> int:
        """The length of the end of a text that may be the beginning of a value, for texts that come in pieces."""
        longest = 0
        for value in self._values:
            for length in range(min(len(value) - 1, len(text)), longest, -1):
                if value.startswith(text[-length:]):
                    longest = length
                    break
        return longest


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """The values of variables whose names mark them as secret, and the passwords in addresses."""
    values: list[str] = []
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and not value.startswith("/") and not any(char.isspace() for char in value):
            values.append(value)
        password = re.match(r"\w+://[^/@\s]*:([^/@\s]+)@", value)
        if password is not None:
            values.append(password[1])
    return values


@cache
def environment_mask() -> SecretMask:
    """The mask for this process. Its environment is read once."""
    return SecretMask(secret_values(os.environ))


def hide_in_content(content: Parts, *, is_secret: bool) -> Parts:
    """Hide known values in a result; with `is_secret`, all values in it."""
    if isinstance(content, str):
        return environment_mask().hide(hide_file_values(content) if is_secret else content)
    return [
        msgspec.structs.replace(part, text=hide_in_content(part.text, is_secret=is_secret))
        if isinstance(part, Text)
        else part
        for part in content
    ]
