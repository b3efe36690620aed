"""Settings from the environment."""

import os


def settings():
    names = ("DATABASE_URL", "CACHE_URL", "LOG_LEVEL")
    return {name: os.environ.get(name) for name in names}
