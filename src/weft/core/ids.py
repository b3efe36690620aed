"""Identifiers: a readable prefix and 80 random bits. They are unique, not secret."""

import os
from random import Random

_random = Random(os.urandom(32))
os.register_at_fork(after_in_child=lambda: _random.seed(os.urandom(32)))


def new_id(prefix: str) -> str:
    return f"{prefix}_{_random.getrandbits(80):020x}"
