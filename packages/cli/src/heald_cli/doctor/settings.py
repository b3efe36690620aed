"""Rows about the settings: files, variables, and what has the former name."""

import os

from heald.commands.finding import Findings, missing, ok, wrong
from heald.commands.merged_options import check_variables, merge_settings
from heald.config.command_tables import command_tables
from heald.config.old_name import find_old_names
from heald.config.paths import display_path
from heald.config.sources import sources
from heald.core.errors import HealdError
from heald.providers.config import configured_providers


def check_settings() -> Findings:
    """Check every file that counts, and name a project's file that does not."""
    for sentence in find_old_names():
        text, _, fix = sentence.partition("; ")
        yield missing("former name", text, f"{fix[:1].upper()}{fix[1:]}")
    try:
        check_variables(os.environ)
        now = sources()
        providers = configured_providers()
        for command in command_tables():
            merge_settings(command, {}, now.documents)
    except HealdError as error:
        yield wrong("settings", str(error), "Correct it; `heald config` shows what is set.")
        return
    for document in now.documents:
        yield ok("settings", f"{display_path(document.path)} is used")
        for sentence in document.notes:
            text, _, fix = sentence.partition("; ")
            yield missing("settings", text, fix)
    if providers:
        yield ok("settings", f"providers of your own: {', '.join(providers)}")
    if now.ignored is not None:
        text, _, fix = str(now.ignored).partition("; ")
        yield missing("settings", text, fix)
