"""`heald demo`: a picture becomes a page, then an agent asks before it changes it; without a key or a network."""

import argparse
import tempfile
from pathlib import Path

from heald.commands.interruption import run_interruptible
from heald_cli.demo.story import DemoStory

EXAMPLES = """examples:
  heald demo
  heald demo --pause 0       without pauses"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two pieces of an answer (0.02)")


def run(options: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="heald-demo-"))
    run_interruptible(DemoStory(folder, options.pause).play())
    return 0
