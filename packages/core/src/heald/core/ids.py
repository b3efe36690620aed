"""Identifiers: a readable prefix and 80 random bits. They are unique, also after a fork."""

from os import register_at_fork, urandom

_MANY = 50
_unused: list[str] = []  # made together: a call of the system for each would cost more than the rest
register_at_fork(after_in_child=_unused.clear)


def new_id(prefix: str) -> str:
    try:
        return f"{prefix}_{_unused.pop()}"
    except IndexError:
        made = urandom(10 * _MANY).hex()
        _unused.extend(made[at : at + 20] for at in range(20, len(made), 20))
        return f"{prefix}_{made[:20]}"
