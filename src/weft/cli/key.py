"""`weft key`: keys in the keyring of the system, typed where nobody sees them."""

import argparse
import getpass
import os
import re
import sys
from difflib import get_close_matches

from weft.cli.paint import rows_of
from weft.config.secrets import is_secret
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.providers.config import configured_providers
from weft.providers.keys import drop_key, keep_key, kept_names, origin_of
from weft.providers.presets import PRESETS

_EXAMPLES = """examples:
  weft key set anthropic            asks for the key and shows nothing of it
  weft key set anthropic < file     the same from a file or a pipe
  weft key set MINE_API_KEY         for a provider of your own, or a program's own variable
  weft key list
  weft key remove anthropic

A key in the environment is used first. The keyring is that of macOS, Windows, GNOME or KDE; it needs
pip install 'weft[keyring]'."""
_OTHERS = {"replicate": "REPLICATE_API_TOKEN"}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,99}")
_KEY = re.compile(r"[\x21-\x7e]{4,4096}")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "key",
        help="keep keys in the keyring of the system",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    setting = acts.add_parser("set", help="give one to the keyring; it is never a word of the command")
    listing = acts.add_parser("list", help="which there are, and where")
    removing = acts.add_parser("remove", help="take one out of the keyring")
    for act in (setting, removing):
        act.add_argument("name", metavar="PROVIDER", help="whose key it is, or the name of its variable")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.act == "list":
        return _list(as_json=options.json)
    name = _variable(options.name)
    if options.act == "remove":
        if not drop_key(name):
            raise ConfigurationError(f"The keyring holds no {name}; `weft key list` says what it does.")
        print(f"weft: {name} is taken out of the keyring.", file=sys.stderr)
        return 0
    keep_key(name, _typed(name))
    print(f"weft: {name} is in the keyring.", file=sys.stderr)
    if os.environ.get(name, "").strip():
        print(f"weft: {name} is set in the environment too, and that one is used.", file=sys.stderr)
    return 0


def _typed(name: str) -> str:
    """The key, from a terminal that does not show it, or from standard input."""
    try:
        said = getpass.getpass(f"{name} (not shown): ") if sys.stdin.isatty() else sys.stdin.read(8192)
    except (EOFError, UnicodeDecodeError):
        said = ""
    key = said.strip()
    if not _KEY.fullmatch(key):
        raise ConfigurationError("That is no key: it is one word of letters, digits and signs. Nothing was kept.")
    return key


def _variables() -> dict[str, str]:
    """Providers whose keys have a name."""
    known = PRESETS | configured_providers()
    return {name: each.key_envs[0] for name, each in known.items() if each.key_envs} | _OTHERS


def _variable(name: str) -> str:
    known = _variables()
    if name in known:
        return known[name]
    if _VARIABLE.fullmatch(name):
        return name
    if len(name) > 20 or is_secret(name):
        raise ConfigurationError("That is no provider. A key is never a word of the command: it is asked for.")
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}, or name its variable."
    raise ConfigurationError(f"There is no provider {name!r}; {hint}")


def _list(*, as_json: bool) -> int:
    whose: dict[str, list[str]] = {}
    for provider, endpoint in (PRESETS | configured_providers()).items():
        for name in endpoint.key_envs:
            whose.setdefault(name, []).append(provider)
    for provider, name in _OTHERS.items():
        whose.setdefault(name, []).append(provider)
    for name in kept_names():
        whose.setdefault(name, [])
    rows: list[list[str]] = []
    for name, providers in whose.items():
        origin = origin_of((name,))
        if origin is None:
            continue
        rows.append([name, origin[1], ", ".join(providers)])
        if as_json:
            print(encode_text({"name": name, "from": origin[1], "providers": providers}))
    for line in rows_of(rows) if not as_json else ():
        print(line)
    if not rows and not as_json:
        print(
            "weft: There is no key in the environment or the keyring; weft key set PROVIDER keeps one.", file=sys.stderr
        )
    return 0
