"""Recognises files that hold secrets by their names, and hides the values in the text of one.

A model, the log and every client get marks instead of the values. Values that appear elsewhere are hidden by
`SecretMask`. A tool that writes refuses marks, so that one never replaces a value.
"""

import re

from heald.core.lazy import lazy_pattern

OLD_MARK = "[hidden by Heald]"
"""Stood for a value in earlier versions, and may still be in the history of a session."""

_NAMES = frozenset(
    {
        ".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
        ".dockercfg", ".vault-token", ".my.cnf", ".s3cfg", ".boto", "credentials", "credentials.json",
        "credentials.toml", "application_default_credentials.json", "secrets.json", "secrets.yaml", "secrets.yml",
        "secrets.toml", "service-account.json", "service_account.json", "kubeconfig", "id_rsa", "id_dsa", "id_ecdsa",
        "id_ed25519", "terraform.tfvars", "terraform.tfstate",
    }
)  # fmt: skip
_SUFFIXES = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfvars", ".env")
_PATHS = (".aws/config", ".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".cargo/credentials.toml")
_EXAMPLES = ("example", "sample", "template", "dist", "defaults")
"""Ends of names such as `.env.example`, which hold no secrets."""

_ASSIGNED = lazy_pattern(
    r"(?m)^(?![^\n]*\[hidden: )((?:[\w./-]{1,300}?[:-]\d{1,9}[:-])?[ \t]*(?:\d{1,9}[ \t]*[\t|:→][ \t]*)?[+-]?[ \t]*"
    r"(?:export[ \t]+)?[\"']?([\w.\-:/@]{1,200}?)[\"']?[ \t]*[=:][ \t]*)(\S[^\n]*)$"
)
"""An assignment, also in a diff, in a file with line numbers and in the result of a search."""
_JSON_TEXT = lazy_pattern(r'("([^"\n]{1,100})"\s*:\s*)"(?!\[hidden)((?:[^"\\\n]|\\.){8,})"')
_NETRC = lazy_pattern(r"(?i)\b(password|account)(\s+)(?!\[hidden)(\S+)")
_KEY_BLOCK = lazy_pattern(r"(-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----).*?(-----END|\Z)", re.DOTALL)


def is_secret_file(path: str) -> bool:
    """Whether a file holds secrets, by its name."""
    path = path.replace("\\", "/").casefold().rstrip("/")
    name = path.rpartition("/")[2]
    if name.rpartition(".")[2] in _EXAMPLES:
        return False
    return name in _NAMES or name.startswith(".env.") or name.endswith(_SUFFIXES) or path.endswith(_PATHS)


def names_secret_file(command: str) -> bool:
    """Whether a word of a command line is the name of a file that holds secrets."""
    return any(is_secret_file(word) for word in re.split(r"[\s'\"=:;|&<>(){},]+", command) if word)


def hide_file_values(text: str, path: str) -> str:
    """Hide all values in the text of a file that holds secrets; the names stay."""
    from heald.tools.secret_mask import mark

    text = _KEY_BLOCK.sub(lambda block: f"{block[1]}\n{mark('private key', path)}\n{block[2]}", text)
    text = _JSON_TEXT.sub(lambda pair: f'{pair[1]}"{mark(pair[2], path)}"', text)
    text = _NETRC.sub(lambda pair: f"{pair[1]}{pair[2]}{mark(pair[1], path)}", text)
    return _ASSIGNED.sub(lambda assignment: f"{assignment[1]}{mark(assignment[2], path)}", text)
