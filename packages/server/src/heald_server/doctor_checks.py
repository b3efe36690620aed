"""Rows of `heald doctor` about the server: its page and its optional dependencies."""

from importlib import resources
from importlib.util import find_spec

from heald.commands.finding import FROM_CHECKOUT, Findings, missing, ok
from heald.core.distribution import DISTRIBUTION, install_advice

_EXTRAS = {
    "a2a": ("a2a", "a2a-sdk", "agents of other programs are clients, by A2A"),
    "jwt": ("jwt", "pyjwt", "users sign in with JWTs"),
}
"""Extras: a module and the package that has it, and the purpose."""


def check() -> Findings:
    is_built = resources.files("heald_server").joinpath("page", "built", "index.html").is_file()
    yield ok("page", "is built") if is_built else missing("page", "is not built", FROM_CHECKOUT)
    for extra, (module, package, purpose) in _EXTRAS.items():
        name = f"{DISTRIBUTION}[{extra}]"
        if find_spec(module) is None:
            yield missing(name, f"{package} is not installed; with it, {purpose}", install_advice(extra))
        else:
            yield ok(name, purpose)
