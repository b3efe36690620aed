"""The model of `heald review`, `heald commit` and `heald pr`, and the repository that they work in."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald.commands.model_options import named_model
from heald.commands.request_settings import reasoning_of
from heald.core.errors import ConfigurationError
from heald.tools.git.repository import GitRepository, find_repository
from heald_cli.model_choice import default_model, no_model_error
from heald_cli.run_agent import check_folder
from heald_cli.single_answer import AnswerWriter

if TYPE_CHECKING:
    from heald.tools.registry import ToolLike


def make_writer(
    options: argparse.Namespace, folder: str | None = None, tools: "Sequence[ToolLike | str]" = ()
) -> AnswerWriter:
    """Return the writer with the model that the options name, or the best one that can be used here."""
    if not options.model and options.base_url is None:
        from heald_server.models import KnownModels

        options.model = default_model(KnownModels())
        if not options.model:
            raise no_model_error()
    return AnswerWriter(
        named_model(options),
        folder=folder,
        tools=tools,
        temperature=options.temperature,
        reasoning=reasoning_of(options),
    )


def require_repository(folder: str) -> GitRepository:
    """Return the repository of a folder. Raises ConfigurationError if it has none."""
    repository = find_repository(check_folder(folder))
    if repository is None:
        raise ConfigurationError(f"The folder {folder!r} is not in a git repository.")
    return repository
