"""Reads config/base.toml and the file of the environment, which overrides it."""

import tomllib
from pathlib import Path


def read_config(environment, folder="config"):
    config = {}
    for name in ("base", environment):
        config.update(tomllib.loads((Path(folder) / f"{name}.toml").read_text("utf-8")))
    return config
