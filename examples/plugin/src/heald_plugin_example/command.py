"""The command `heald convert`."""

import argparse
import sys

from heald_plugin_example.tools import METRES, convert

EXAMPLES = """examples:
  heald convert 5 mile km"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("value", type=float, help="the number")
    parser.add_argument("source", choices=METRES, help="its unit")
    parser.add_argument("target", choices=METRES, help="the unit of the result")


def run(options: argparse.Namespace) -> int:
    sys.stdout.write(f"{convert(options.value, options.source, options.target):g} {options.target}\n")
    return 0
