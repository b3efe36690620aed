"""Reads secret values from the environment and from the text of files that hold secrets, and decides which of them are
hidden wherever they appear.

A value is hidden everywhere if it is distinctive: at least eight characters, and neither a common word, a number, a
path nor a few plain words. A value that is not distinctive is hidden only where it stands behind its name, and only if
the name marks it as a secret: `DB_PASSWORD=letmein`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

import msgspec

from heald.config.secrets import is_secret
from heald.core.lazy import lazy_pattern

ENVIRONMENT = "the environment"
"""The source of values that are not part of a file."""
MIN_LENGTH = 8
"""Characters of the shortest value that is hidden wherever it appears."""
_WORDS_LENGTH = 16
"""Characters from which on plain words are a passphrase, and a value of any name can be random."""
_MIN_ENTROPY = 3.0
"""Bits per character of a random value. That of English text is lower for its length."""
_LONGEST = 4096

_NAME_PARTS = (
    "password", "passwd", "passphrase", "secret", "credential", "apikey", "accesskey", "privatekey", "token", "webhook",
)  # fmt: skip
"""Parts of names that mark a value as a secret, wherever they stand."""
_NAME_WORDS = frozenset(
    {
        "auth",
        "authorization",
        "cert",
        "cookie",
        "cred",
        "creds",
        "dsn",
        "jwt",
        "key",
        "otp",
        "pass",
        "pat",
        "pgp",
        "pin",
    }
    | {"pw", "pwd", "salt", "sk"}
)
"""Whole words of names that do."""
_PUBLIC_WORDS = frozenset({"public", "publishable"})
_COMMON = frozenset(
    [
        "administrator",
        "anonymous",
        "changeit",
        "changeme",
        "change-me",
        "change_me",
        "database",
        "debugging",
        "default",
        "defaults",
        "development",
        "disabled",
        "docker-compose",
        "enabled",
        "example",
        "examples",
        "guestguest",
        "localhost",
        "localhost:3000",
        "localhost:5432",
        "localhost:8080",
        "minioadmin",
        "mongodb",
        "mysecret",
        "mysecretpassword",
        "none,none",
        "null,null",
        "password",
        "password1",
        "password123",
        "passw0rd",
        "placeholder",
        "postgres",
        "postgresql",
        "production",
        "rabbitmq",
        "redacted",
        "replace-me",
        "replace_me",
        "replaceme",
        "rootroot",
        "secret",
        "secretkey",
        "secrets",
        "staging",
        "testtest",
        "undefined",
        "your-api-key",
        "your-key",
        "your-secret",
        "your_api_key",
        "your_key",
        "your_secret",
        "xxxxxxxx",
    ]
)
_NUMBER = lazy_pattern(r"[\d\s.:,_/+-]+")
_PATH = lazy_pattern(r"(?:~|\.{1,2})?/[\w.@~/ -]*|[A-Za-z]:\\[^\n]*")
_PLAIN_WORDS = lazy_pattern(r"[A-Za-z]+(?:[ _.\-][A-Za-z]+)*(?::\d+)?")
_HOST = lazy_pattern(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?::\d+)?/?")
_REFERENCE = lazy_pattern(r"\$\{?[A-Za-z_]\w*\}?|<[^<>\n]*>|\{\{.*\}\}")
_CAMEL = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS = lazy_pattern(r"([A-Za-z][\w+.-]*)://([^\s/@:'\"]*)(?::([^\s/@'\"]*))?@")
_WEB_ADDRESS = lazy_pattern(r"https?://[^/\s]+(/\S*)?")
_PARAMETER = lazy_pattern(r"(?i)\b(password|passwd|pwd|secret|token|accountkey|sharedaccesskey)=([^;&\s'\"]+)")

_ASSIGNED = lazy_pattern(
    r"(?m)^[ \t]*(?![A-Za-z][\w+.-]*://)(?:export[ \t]+)?[\"']?([\w.\-:/@]{1,200}?)[\"']?"
    r"[ \t]*(?:=|:(?=[ \t])|:(?![^\n]*=))[ \t]*(\S[^\n]*)$"
)
_JSON_TEXT = lazy_pattern(r'"([^"\n]{1,100})"\s*:\s*"((?:[^"\\\n]|\\.)+)"')
_NETRC = lazy_pattern(r"(?i)\b(password|account)\s+(\S+)")
_KEY_BLOCK = lazy_pattern(r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----(.*?)(?:-----END|\Z)", re.DOTALL)
_ANY_BLOCK = lazy_pattern(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)
_KEY_LINE = lazy_pattern(r"[A-Za-z0-9+/=]{16,}")


class SecretValue(msgspec.Struct, frozen=True):
    """A value that is hidden, and what a reader sees instead of it."""

    text: str
    name: str
    source: str
    """The path of its file, or `ENVIRONMENT`."""
    before: str = ""
    """The text that it is hidden behind; a value without one is hidden wherever it appears."""


def environment_values(environment: Mapping[str, str]) -> Iterator[SecretValue]:
    """Yield the secret values of an environment: by name, passwords in addresses, and keys of a known form."""
    for name, value in environment.items():
        yield from _values_of(name, value.strip(), ENVIRONMENT, may_be_random=False)


def file_values(text: str, path: str) -> Iterator[SecretValue]:
    """Yield the secret values in the text of a file that holds secrets."""
    for block in _KEY_BLOCK.finditer(text):
        for line in _KEY_LINE.findall(block[1].replace("\\n", "\n")):
            yield SecretValue(line, "private key", path)
    text = _ANY_BLOCK.sub("", _KEY_BLOCK.sub("", text))  # certificates are public
    for name, value in _JSON_TEXT.findall(text):
        yield from _values_of(name, _unescape(value), path)
    for name, value in _NETRC.findall(text):
        yield from _values_of(name, value, path)
    named_lines: set[str] = set()
    for assignment in _ASSIGNED.finditer(text):
        named_lines.add(assignment[0].strip())
        value = _unquote(assignment[2])
        before, has_value, _ = assignment[0].lstrip().partition(value) if value else ("", "", "")
        for start in dict.fromkeys((before, f"{assignment[1]}=")) if has_value else ("",):
            yield from _values_of(assignment[1], value, path, before=start)
        if assignment[2].count(":") >= 3 and assignment[0].count(":") == 4:  # a line of .pgpass
            yield from _values_of("password", assignment[2].rpartition(":")[2].strip(), path)
    for line in map(str.strip, text.splitlines()):
        if line and line not in named_lines and line[0] not in "#;[]{}":
            yield from _values_of(path.rpartition("/")[2], line, path, is_named=False)


def is_secret_name(name: str) -> bool:
    """Return whether the name of a variable marks its value as a secret."""
    words = re.split(r"[^a-z0-9]+", _CAMEL.sub("_", name).lower())
    joined = "".join(words)
    return any(part in joined for part in _NAME_PARTS) or not _NAME_WORDS.isdisjoint(words)


def is_distinctive(value: str, *, is_named: bool) -> bool:
    """Return whether a value can be hidden wherever it appears. `is_named`: its name marks it as a secret."""
    if not MIN_LENGTH <= len(value) <= _LONGEST or value.lower() in _COMMON or _REFERENCE.fullmatch(value):
        return False
    if is_secret(value):
        return True
    if _NUMBER.fullmatch(value) or _PATH.fullmatch(value) or len(set(value)) < 4:
        return False
    if _PLAIN_WORDS.fullmatch(value):
        return is_named and len(value) >= _WORDS_LENGTH and not _HOST.fullmatch(value)
    return is_named or _is_random(value)


def _values_of(
    name: str, value: str, source: str, *, before: str = "", is_named: bool | None = None, may_be_random: bool = True
) -> Iterator[SecretValue]:
    """Yield a value or the secret parts of it."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    is_named = is_secret_name(name) and words.isdisjoint(_PUBLIC_WORDS) if is_named is None else is_named
    is_address = False
    for address in _ADDRESS.finditer(value):
        is_address = True
        user, password = address[2], address[3] or ""
        yield from _password(name, password, source, before=f"{user}:")
        if not password and _is_random(user):
            yield SecretValue(user, name, source)
    for _, parameter in _PARAMETER.findall(value):
        yield from _password(name, parameter, source)
    path = _WEB_ADDRESS.fullmatch(value)
    if path is not None:
        if "webhook" in name.lower() and len(path[1] or "") >= MIN_LENGTH:
            yield SecretValue(path[1], name, source)
        return
    if is_address or "://" in value:
        return
    if is_distinctive(value, is_named=is_named) and (is_named or may_be_random or is_secret(value)):
        if source != ENVIRONMENT or not any(char.isspace() for char in value):
            yield SecretValue(value, name, source)
    elif is_named and before and len(value) >= 3 and not _is_harmless(value):
        yield SecretValue(value, name, source, before)


def _password(name: str, password: str, source: str, before: str = "") -> Iterator[SecretValue]:
    for text in dict.fromkeys((password, unquote(password))):
        if is_distinctive(text, is_named=True):
            yield SecretValue(text, name, source)
        elif before.strip(":") and len(text) >= 3 and not _is_harmless(text):
            yield SecretValue(text, name, source, before)


def _is_harmless(value: str) -> bool:
    """Return whether a short value is one that everybody knows, or none."""
    is_word = value.lower() in _COMMON or value.lower() in ("true", "false", "none", "null")
    return is_word or bool(_REFERENCE.fullmatch(value) or _NUMBER.fullmatch(value) or _PATH.fullmatch(value))


def _is_random(value: str) -> bool:
    """Return whether a value looks like a generated one: long, without spaces, letters and digits mixed."""
    if len(value) < _WORDS_LENGTH or any(char.isspace() for char in value) or "@" in value or "://" in value:
        return False
    if not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)) or _HOST.fullmatch(value):
        return False
    return _entropy(value) >= _MIN_ENTROPY


def _entropy(text: str) -> float:
    """Return the bits per character, by the frequencies of its characters."""
    counts: Iterable[int] = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _unquote(value: str) -> str:
    """Return an assigned value without its quotes, or without the comment behind it."""
    value = value.strip().rstrip(",").rstrip()
    quote = value[:1]
    if quote in "'\"`" and (end := value.find(quote, 1)) > 0:
        return _unescape(value[1:end]) if quote == '"' else value[1:end]
    return re.split(r"\s+#", value, maxsplit=1)[0].rstrip()


def _unescape(text: str) -> str:
    try:
        return msgspec.json.decode(f'"{text}"', type=str)
    except msgspec.DecodeError:
        return text
