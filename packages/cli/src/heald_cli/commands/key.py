"""`heald key`: stores API keys in the keyring of the system, or in a private file where there is none."""

import argparse
import getpass
import os
import re
import sys
from difflib import get_close_matches

from heald.commands.terminal import print_note
from heald.commands.text_columns import align_columns
from heald.config.secrets import is_secret
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.providers.config import configured_providers
from heald.providers.key_file import SECRET_VARIABLE
from heald.providers.key_store import KeyPlace, delete_key, store_key, stored_key_names
from heald.providers.keys import find_key_origin
from heald.providers.registry import installed_providers

EXAMPLES = f"""examples:
  heald key set anthropic            asks for the key and does not show it
  heald key set anthropic < file     the same from a file or a pipe
  heald key set MINE_API_KEY         for a provider of your own, or a program's own variable
  heald key list
  heald key remove anthropic

A key in the environment is used first. Keys are stored in the keyring of macOS, Windows, GNOME or KDE, which needs
{install_advice("keyring")}
Without a keyring they are stored in ~/.config/heald/credentials.json, which only its owner may read; if
{SECRET_VARIABLE} is set, they are encrypted with that secret."""
_PLACES: dict[KeyPlace, str] = {
    "keyring": "in the keyring",
    "encrypted_file": "in ~/.config/heald/credentials.json, encrypted",
    "file": f"in ~/.config/heald/credentials.json, not encrypted; {SECRET_VARIABLE} would encrypt it",
}
_OTHERS = {"replicate": "REPLICATE_API_TOKEN"}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,99}")
_KEY = re.compile(r"[\x21-\x7e]{4,4096}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    setting = acts.add_parser("set", help="store a key; it is asked for, never given as an argument")
    listing = acts.add_parser("list", help="list the keys and where they are")
    removing = acts.add_parser("remove", help="delete a stored key")
    for act in (setting, removing):
        act.add_argument("name", metavar="PROVIDER", help="provider of the key, or the name of its variable")
    listing.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    if options.act == "list":
        return _list(as_json=options.json)
    name = _variable(options.name)
    if options.act == "remove":
        if not delete_key(name):
            raise ConfigurationError(f"{name} is not stored; `heald key list` lists the keys.")
        print_note(f"{name} is deleted.")
        return 0
    print_note(f"{name} is {_PLACES[store_key(name, _read_key(name))]}.")
    if os.environ.get(name, "").strip():
        print_note(f"{name} is also set in the environment, and that one is used.")
    return 0


def _read_key(name: str) -> str:
    """Read the key from a terminal that does not show it, or from standard input."""
    try:
        text = getpass.getpass(f"{name} (not shown): ") if sys.stdin.isatty() else sys.stdin.read(8192)
    except (EOFError, UnicodeDecodeError):
        text = ""
    key = text.strip()
    if not _KEY.fullmatch(key):
        raise ConfigurationError(
            "That is not a key: it must be one word of letters, digits and signs. Nothing was stored."
        )
    return key


def _variables() -> dict[str, str]:
    """Return the variable of each provider that needs a key."""
    providers = installed_providers() | configured_providers()
    return {name: endpoint.key_envs[0] for name, endpoint in providers.items() if endpoint.key_envs} | _OTHERS


def _variable(name: str) -> str:
    variables = _variables()
    if name in variables:
        return variables[name]
    if _VARIABLE.fullmatch(name):
        return name
    if len(name) > 20 or is_secret(name):
        raise ConfigurationError("That is not a provider. A key is never an argument of the command: it is asked for.")
    near = get_close_matches(name, variables, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(variables)}, or name its variable."
    raise ConfigurationError(f"There is no provider {name!r}; {hint}")


def _list(*, as_json: bool) -> int:
    whose: dict[str, list[str]] = {}
    for provider, endpoint in (installed_providers() | configured_providers()).items():
        for name in endpoint.key_envs:
            whose.setdefault(name, []).append(provider)
    for provider, name in _OTHERS.items():
        whose.setdefault(name, []).append(provider)
    for name in stored_key_names():
        whose.setdefault(name, [])
    rows: list[list[str]] = []
    for name, providers in whose.items():
        origin = find_key_origin((name,))
        if origin is None:
            continue
        rows.append([name, origin[1], ", ".join(providers)])
        if as_json:
            print(encode_text({"name": name, "from": origin[1], "providers": providers}))
    for line in align_columns(rows) if not as_json else ():
        print(line)
    if not rows and not as_json:
        print_note("There is no key in the environment, and none is stored; heald key set PROVIDER stores one.")
    return 0
