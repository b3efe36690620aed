"""The row of `heald doctor` about pull requests: the forges, and the public servers that have a token."""

from heald.commands.finding import Findings, ok
from heald.providers.keys import has_key
from heald_forges.installed import installed_kinds


def check() -> Findings:
    kinds = installed_kinds().values()
    titles = ", ".join(kind.title for kind in kinds)
    hosts = ", ".join(host.host for kind in kinds for host in kind.hosts if has_key(host.token_variables))
    yield ok("pull requests", f"on {titles}; {f'tokens for {hosts}' if hosts else 'no token found'}")
