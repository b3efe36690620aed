"""`heald undo`: restores the files as they were before `heald run`, or before one of its attempts was applied."""

import argparse

from heald.commands.options import add_options
from heald.commands.terminal import print_note
from heald.config.paths import data_folder
from heald.core.errors import ConfigurationError
from heald.tools.git.repository import find_repository
from heald_cli.repository.applied_attempts import AppliedAttempts
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_cli.run_agent import check_folder

EXAMPLES = """examples:
  heald undo                  undo the last run, or the last attempt that was applied
  heald undo site             in another folder

A second call undoes the run before it. A file that you changed since stays as it is. In `heald chat`, /undo undoes
an exchange of the conversation."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="folder (the current folder)")
    add_options(parser, "undo")


def run(options: argparse.Namespace) -> int:
    repository = find_repository(check_folder(options.folder))
    if repository is None:
        raise ConfigurationError(f"{options.folder} is in no git repository, so no state before a run was saved.")
    lines = AppliedAttempts(repository, data_folder(), CheckpointLimits.of(options)).undo()
    for line in lines or ["There is nothing to undo: no run and no attempt has changed this folder."]:
        print_note(line)
    return 0 if lines else 1
