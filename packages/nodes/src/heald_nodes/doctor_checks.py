"""Rows of `heald doctor` about several servers on one store."""

from importlib.util import find_spec

from heald.commands.finding import Findings, missing, ok
from heald.core.distribution import DISTRIBUTION, install_advice

_EXTRAS = {
    "nats": ("nats", "nats-py", "news between servers go over NATS"),
    "temporal": ("temporalio", "temporalio", "Temporal decides where requests run"),
}
"""Extras: a module and the package that has it, and the purpose."""


def check() -> Findings:
    yield ok(f"{DISTRIBUTION}[postgres]", "several servers share one PostgreSQL database")
    for extra, (module, package, purpose) in _EXTRAS.items():
        name = f"{DISTRIBUTION}[{extra}]"
        if find_spec(module) is None:
            yield missing(name, f"without {package}; with it {purpose}", install_advice(extra))
        else:
            yield ok(name, purpose)
