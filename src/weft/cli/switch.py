"""A flag that can be turned on and off: `--open` and `--no-open`."""

import argparse
from typing import Any


class Switch(argparse.BooleanOptionalAction):
    """As the standard one, with the help as it is written."""

    def __init__(self, option_strings: list[str], dest: str, *, help: str = "", **rest: Any) -> None:  # noqa: A002
        super().__init__(option_strings, dest, **rest)
        self.help = help
